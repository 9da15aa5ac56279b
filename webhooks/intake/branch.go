package intake

import "github.com/preadmit/preadmit/webhooks/queue"

func readMergeGroup(body []byte) (requested, error) {
	var e mergeGroupEvent
	return read(body, &e, &e.common, e.request)
}

func (e *mergeGroupEvent) request() requested {
	g := &e.MergeGroup
	switch {
	case e.Action != "checks_requested" && e.Action != "destroyed":
		return noJob("this action of merge_group needs no verdict")
	case !isObjectName(g.HeadSHA) || !isObjectName(g.BaseSHA):
		return noJob("the payload's merge group has no head or base")
	case !isBranch(g.HeadRef):
		return noJob("the payload's merge group has no branch")
	}
	return withJob(queue.Job{
		Kind: queue.KindGroup, Head: g.HeadSHA, Base: g.BaseSHA, Ref: g.HeadRef,
		Cancel: e.Action == "destroyed", Reason: "merge_group." + e.Action,
	})
}

func readPush(body []byte) (requested, error) {
	var e pushEvent
	return read(body, &e, &e.common, e.request)
}

// request returns a job for a new baseline of the default branch. A push to another branch is ignored,
// since its pull requests have events of their own.
func (e *pushEvent) request() requested {
	switch {
	case !isBranch(e.Ref) || e.Ref != branchPrefix+e.Repository.DefaultBranch:
		return noJob("the push is not to the default branch")
	case e.Deleted:
		return noJob("the push deletes the branch")
	case !isObjectName(e.After):
		return noJob("the payload's push has no commit")
	}
	return withJob(queue.Job{Kind: queue.KindPush, Head: e.After, Ref: e.Ref, Reason: "push"})
}
