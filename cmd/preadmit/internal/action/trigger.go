package action

import (
	"cmp"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report/github"
)

// trigger has the commits to compare for an event, and where to publish the report.
type trigger struct {
	// judged is the commit to judge. For a pull request it is the merge commit, whose
	// second parent is headSHA.
	judged, judgedName string
	// base is the commit to compare with. If it is empty, merge and fork determine the base;
	// without these, everything is judged.
	base, baseName string
	// merge is set if judged should be the merge of headSHA. Then the base is its first
	// parent, unless the input names another.
	merge bool
	// fork is a commit or branch whose merge base with judged is the base, if base is empty
	// or no longer available.
	fork string
	// forced is set for a forced push, after which base may no longer exist.
	forced bool
	// baseline is set if code scanning needs all findings, not only those of the change.
	baseline bool
	// headSHA is the commit that check runs belong to.
	headSHA string
	pull    int
	// ref is the ref for code scanning, empty if there is none for this event.
	ref string
}

const noCommit = "0000000000000000000000000000000000000000"

// trigger returns the trigger for the event and the inputs, nil if there is nothing to judge.
func (r *runner) trigger(f *flags) (*trigger, error) {
	t, err := r.eventTrigger(f)
	if err != nil || t == nil || f.scan.Base == "" {
		return t, err
	}
	t.base, t.fork, t.baseName = "", f.scan.Base, f.scan.Base
	return t, nil
}

// eventTrigger returns the trigger for the event alone.
func (r *runner) eventTrigger(f *flags) (*trigger, error) {
	if f.from != "" && r.event != "workflow_run" {
		return nil, cli.Usagef("--from publishes the report of another run, and is for workflow_run only, not for %s", r.event)
	}
	switch r.event {
	case "pull_request":
		return r.pullRequest()
	case "push":
		return r.push()
	case "merge_group":
		return r.mergeGroup()
	case "workflow_dispatch":
		return &trigger{judged: r.sha, judgedName: r.ref, headSHA: r.sha, ref: r.branch(), baseline: true}, nil
	case "workflow_run":
		return r.workflowRun(f)
	case "pull_request_target":
		return nil, cli.Usagef("pull_request_target is refused: with it, a pull request from a fork gets secrets and a token with write access; " +
			"use pull_request, and workflow_run to publish if the token of pull_request may not (docs/action.md)")
	}
	return nil, cli.Usagef("the event %s has no change; preadmit action supports pull_request, push, merge_group, "+
		"workflow_dispatch and workflow_run", r.event)
}

func (r *runner) incomplete(what string) error {
	return cli.Usagef("GITHUB_EVENT_PATH: the event %s has no %s", r.event, what)
}

func (r *runner) pullRequest() (*trigger, error) {
	pr := r.payload.PullRequest
	if pr == nil || pr.Number < 1 || pr.Head.SHA == "" || pr.Base.SHA == "" {
		return nil, r.incomplete("pull_request with number, head.sha and base.sha")
	}
	return &trigger{
		judged: r.sha, judgedName: r.ref, baseName: pr.Base.Ref, merge: true, fork: pr.Base.SHA,
		headSHA: pr.Head.SHA, pull: pr.Number, ref: r.ref,
	}, nil
}

func (r *runner) push() (*trigger, error) {
	after := cmp.Or(r.payload.After, r.sha)
	if r.payload.Deleted || after == noCommit {
		return nil, nil
	}
	t := &trigger{
		judged: after, judgedName: r.ref, base: r.payload.Before, baseName: r.ref + " before the push",
		forced: r.payload.Forced, headSHA: after, ref: r.branch(), baseline: true,
	}
	if t.base == noCommit {
		t.base, t.baseName = "", ""
	}
	if main := r.payload.Repository.DefaultBranch; main != "" && t.ref != "" && t.ref != "refs/heads/"+main {
		t.fork = "refs/heads/" + main
	}
	return t, nil
}

func (r *runner) mergeGroup() (*trigger, error) {
	group := r.payload.MergeGroup
	if group == nil || group.HeadSHA == "" || group.BaseSHA == "" {
		return nil, r.incomplete("merge_group with head_sha and base_sha")
	}
	return &trigger{
		judged: group.HeadSHA, judgedName: group.HeadRef, base: group.BaseSHA, baseName: group.BaseRef,
		headSHA: group.HeadSHA, ref: group.HeadRef,
	}, nil
}

func (r *runner) workflowRun(f *flags) (*trigger, error) {
	run := r.payload.WorkflowRun
	switch {
	case f.from == "":
		return nil, cli.Usagef("workflow_run needs --from: the report that the other workflow wrote")
	case run == nil || run.HeadSHA == "":
		return nil, r.incomplete("workflow_run with head_sha")
	case run.Event != "pull_request":
		return nil, cli.Usagef("the workflow that ran did so for %s, not for a pull_request", cmp.Or(run.Event, "nothing known"))
	}
	return &trigger{headSHA: run.HeadSHA}, nil
}

// branch returns the ref if it is a branch, else "": code scanning does not support tags.
func (r *runner) branch() string {
	if strings.HasPrefix(r.ref, "refs/heads/") {
		return r.ref
	}
	return ""
}

// target returns where the report is published.
func (t *trigger) target(r *runner) github.Target {
	return github.Target{
		Owner: r.owner, Repo: r.repo, HeadSHA: t.headSHA, Pull: t.pull,
		Ref: t.ref, RefSHA: t.judged, DetailsURL: r.runURL(),
	}
}
