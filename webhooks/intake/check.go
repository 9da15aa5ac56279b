package intake

import (
	"github.com/preadmit/preadmit/webhooks/app"
	"github.com/preadmit/preadmit/webhooks/queue"
)

func readCheckRun(body []byte, appID int64) (demand, error) {
	var e checkRunEvent
	return read(body, &e, &e.common, func() demand { return e.demand(appID) })
}

func (e *checkRunEvent) demand(appID int64) demand {
	switch {
	case e.Action == "requested_action" && e.RequestedAction.Identifier != app.ActionRescan:
		return nothing("the requested action is none of ours")
	case e.Action != "rerequested" && e.Action != "requested_action":
		return nothing("this action of check_run asks for nothing")
	}
	return e.CheckRun.again(appID, &e.common, "check_run."+e.Action)
}

func readCheckSuite(body []byte, appID int64) (demand, error) {
	var e checkSuiteEvent
	return read(body, &e, &e.common, func() demand { return e.demand(appID) })
}

// demand: pull_request events begin scans, so check_suite.requested, which comes with
// every push, does not.
func (e *checkSuiteEvent) demand(appID int64) demand {
	if e.Action != "rerequested" {
		return nothing("this action of check_suite asks for nothing")
	}
	return e.CheckSuite.again(appID, &e.common, "check_suite."+e.Action)
}

// again asks for a fresh verdict on what a check of ours is about. Checks of other Apps
// come with the same events, and are theirs.
func (c *check) again(appID int64, of *common, reason string) demand {
	if appID <= 0 || c.App.ID != appID {
		return nothing("the check is another App's")
	}
	d := c.pull(of, reason)
	if d.job == nil {
		if !isObjectName(c.HeadSHA) {
			return nothing("the payload's check has no head")
		}
		d = want(queue.Job{Kind: queue.KindResolve, Head: c.HeadSHA, Reason: reason})
	}
	d.job.Fresh = true
	return d
}

// pull is for the check's pull request, if it is one of this repository, and the only
// one. GitHub lists none for heads in forks; a commit that is the head of several has one
// check for all. Then somebody has to look.
func (c *check) pull(of *common, reason string) demand {
	if len(c.PullRequests) != 1 || c.PullRequests[0].Base.Repo.ID != of.Repository.ID {
		return demand{}
	}
	return c.PullRequests[0].demand(reason)
}
