package intake

import "github.com/preadmit/preadmit/webhooks/queue"

func readPullRequest(body []byte) (demand, error) {
	var e pullRequestEvent
	return read(body, &e, &e.common, e.demand)
}

// demand has a pull request brought up to date, also when it was closed or became a
// draft: the job replaces what is queued for it, and ends what is running.
func (e *pullRequestEvent) demand() demand {
	switch e.Action {
	case "opened", "synchronize", "reopened", "ready_for_review":
		if e.PullRequest.Draft {
			return nothing("drafts are judged when they are ready for review")
		}
	case "edited":
		if e.Changes.Base == nil {
			return nothing("only another base asks for another verdict")
		}
		if e.PullRequest.Draft {
			return nothing("drafts are judged when they are ready for review")
		}
	case "closed", "converted_to_draft":
	default:
		return nothing("this action of pull_request changes no verdict")
	}
	return e.PullRequest.demand("pull_request." + e.Action)
}

// demand is a job for the pull request. Its reason is "event.action".
func (p *pullRequest) demand(reason string) demand {
	switch {
	case p.Number <= 0:
		return nothing("the payload's pull request has no number")
	case !isObjectName(p.Head.SHA) || !isObjectName(p.Base.SHA):
		return nothing("the payload's pull request has no head or base")
	}
	return want(queue.Job{Kind: queue.KindPull, Pull: p.Number, Head: p.Head.SHA, Base: p.Base.SHA, Reason: reason})
}
