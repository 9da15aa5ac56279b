package intake

import (
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

func readCheckRun(body []byte, appID int64) (requested, error) {
	var e checkRunEvent
	return read(body, &e, &e.common, func() requested { return e.request(appID) })
}

func (e *checkRunEvent) request(appID int64) requested {
	switch {
	case e.Action == "requested_action" && e.RequestedAction.Identifier != app.ActionRescan:
		return noJob("the requested action is not one of preadmit")
	case e.Action != "rerequested" && e.Action != "requested_action":
		return noJob("this action of check_run needs no verdict")
	}
	return e.CheckRun.again(appID, &e.common, "check_run."+e.Action)
}

func readCheckSuite(body []byte, appID int64) (requested, error) {
	var e checkSuiteEvent
	return read(body, &e, &e.common, func() requested { return e.request(appID) })
}

// request ignores check_suite.requested, which GitHub sends with every push: pull_request events
// start scans.
func (e *checkSuiteEvent) request(appID int64) requested {
	if e.Action != "rerequested" {
		return noJob("this action of check_suite needs no verdict")
	}
	return e.CheckSuite.again(appID, &e.common, "check_suite."+e.Action)
}

// again returns a job for a fresh verdict on the subject of a check of ours. GitHub sends the same
// events for checks of other Apps, which are ignored.
func (c *check) again(appID int64, of *common, reason string) requested {
	if appID <= 0 || c.App.ID != appID {
		return noJob("the check is another App's")
	}
	d := c.pull(of, reason)
	if d.job == nil {
		if !isObjectName(c.HeadSHA) {
			return noJob("the payload's check has no head")
		}
		d = withJob(queue.Job{Kind: queue.KindResolve, Head: c.HeadSHA, Reason: reason})
	}
	d.job.Fresh = true
	return d
}

// pull returns a job for the check's pull request, if it has exactly one and that is in this
// repository. GitHub lists none for heads in forks; a commit that is the head of several has one
// check for all. For these, KindResolve looks up the pull requests.
func (c *check) pull(of *common, reason string) requested {
	if len(c.PullRequests) != 1 || c.PullRequests[0].Base.Repo.ID != of.Repository.ID {
		return requested{}
	}
	return c.PullRequests[0].request(reason)
}
