package intake

import "github.com/preadmit/preadmit/webhooks/queue"

func readPullRequest(body []byte) (requested, error) {
	var e pullRequestEvent
	return read(body, &e, &e.common, e.request)
}

// request returns a job to update a pull request, also when it was closed or became a draft: the job
// replaces the queued one, and ends the running one.
func (e *pullRequestEvent) request() requested {
	switch e.Action {
	case "opened", "synchronize", "reopened", "ready_for_review":
		if e.PullRequest.Draft {
			return noJob("drafts are judged when they are ready for review")
		}
	case "edited":
		if e.Changes.Base == nil {
			return noJob("only a new base needs a new verdict")
		}
		if e.PullRequest.Draft {
			return noJob("drafts are judged when they are ready for review")
		}
	case "closed", "converted_to_draft":
	default:
		return noJob("this action of pull_request changes no verdict")
	}
	return e.PullRequest.request("pull_request." + e.Action)
}

// request returns a job for the pull request. reason is "event.action".
func (p *pullRequest) request(reason string) requested {
	switch {
	case p.Number <= 0:
		return noJob("the payload's pull request has no number")
	case !isObjectName(p.Head.SHA) || !isObjectName(p.Base.SHA):
		return noJob("the payload's pull request has no head or base")
	}
	return withJob(queue.Job{Kind: queue.KindPull, Pull: p.Number, Head: p.Head.SHA, Base: p.Base.SHA, Reason: reason})
}
