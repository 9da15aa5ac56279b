package intake

import "github.com/preadmit/preadmit/webhooks/queue"

func readMergeGroup(body []byte) (demand, error) {
	var e mergeGroupEvent
	return read(body, &e, &e.common, e.demand)
}

func (e *mergeGroupEvent) demand() demand {
	g := &e.MergeGroup
	switch {
	case e.Action != "checks_requested" && e.Action != "destroyed":
		return nothing("this action of merge_group asks for nothing")
	case !isObjectName(g.HeadSHA) || !isObjectName(g.BaseSHA):
		return nothing("the payload's merge group has no head or base")
	case !isBranch(g.HeadRef):
		return nothing("the payload's merge group has no branch")
	}
	return want(queue.Job{
		Kind: queue.KindGroup, Head: g.HeadSHA, Base: g.BaseSHA, Ref: g.HeadRef,
		Cancel: e.Action == "destroyed", Reason: "merge_group." + e.Action,
	})
}

func readPush(body []byte) (demand, error) {
	var e pushEvent
	return read(body, &e, &e.common, e.demand)
}

// demand has the default branch judged anew; with a push to another branch, the pull
// requests from it have events of their own.
func (e *pushEvent) demand() demand {
	switch {
	case !isBranch(e.Ref) || e.Ref != branchPrefix+e.Repository.DefaultBranch:
		return nothing("the push is not to the default branch")
	case e.Deleted:
		return nothing("the push deletes the branch")
	case !isObjectName(e.After):
		return nothing("the payload's push has no commit")
	}
	return want(queue.Job{Kind: queue.KindPush, Head: e.After, Ref: e.Ref, Reason: "push"})
}
