package worker

import (
	"context"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github"
)

// pullState is the state of a pull request in GitHub's API.
type pullState struct {
	number        int
	title, author string
	state         string // open or closed
	draft, fork   bool
	private       bool
	owner, repo   string // of the base
	head, baseRef string
	// base is a commit that the base branch had.
	base string
	// merge is the merge commit that GitHub made, valid if mergeable is true.
	merge     string
	mergeable *bool
}

// open reports whether the pull request is open and not a draft.
func (p *pullState) open() bool { return p.state == "open" && !p.draft }

// unwanted returns why the pull request must not be judged, or "".
func (p *pullState) unwanted() string {
	switch {
	case p.state != "open":
		return "The pull request is closed."
	case p.draft:
		return "The pull request is a draft."
	}
	return ""
}

// getPull reads the state of the pull request from GitHub.
func (t *task) getPull(ctx context.Context) (*pullState, error) {
	pr, _, err := t.client().PullRequests.Get(ctx, t.owner(), t.repo(), t.job.Pull)
	if err != nil {
		return nil, github.Explain("ask for the pull request", "pull-requests: read", err)
	}
	head, base := pr.GetHead(), pr.GetBase()
	return &pullState{
		number: pr.GetNumber(), title: pr.GetTitle(), author: pr.GetUser().GetLogin(),
		state: pr.GetState(), draft: pr.GetDraft(), fork: isFork(head, base), private: base.GetRepo().GetPrivate(),
		owner: base.GetRepo().GetOwner().GetLogin(), repo: base.GetRepo().GetName(),
		head: head.GetSHA(), baseRef: base.GetRef(), base: base.GetSHA(),
		merge: pr.GetMergeCommitSHA(), mergeable: pr.Mergeable,
	}, nil
}

// isFork reports whether the head is of another repository, or of one that was deleted.
func isFork(head, base *gogithub.PullRequestBranch) bool {
	return head.GetRepo().GetID() == 0 || head.GetRepo().GetID() != base.GetRepo().GetID()
}

// settled waits shortly until GitHub knows whether the pull request can be merged. GitHub starts
// to compute that when the pull request is requested.
func (t *task) settled(ctx context.Context, pr *pullState) (*pullState, error) {
	const tries = 3
	for try := 0; try < tries && pr.mergeable == nil; try++ {
		rest(ctx, t.w.MergeWait/tries)
		again, err := t.getPull(ctx)
		if err != nil {
			return nil, err
		}
		if moved(pr, again) != nil {
			return nil, moved(pr, again)
		}
		pr = again
	}
	return pr, nil
}

// moved returns an error if the pull request changed since begun, so that begun must not be judged.
func moved(begun, now *pullState) error {
	switch {
	case now.unwanted() != "":
		return &overtaken{why: now.unwanted()}
	case now.head != begun.head:
		return &overtaken{why: "The pull request has another head now, which is judged instead.", again: true, head: now.head}
	case now.baseRef != begun.baseRef:
		return &overtaken{why: "The pull request has another base now, against which it is judged again.", again: true, head: now.head}
	}
	return nil
}

// checkCurrent reads the pull request again and returns an error if it changed since begun.
func (t *task) checkCurrent(ctx context.Context, begun *pullState) error {
	now, err := t.getPull(ctx)
	if err != nil {
		return err
	}
	return moved(begun, now)
}

// usable reports whether GitHub has a merge commit.
func (p *pullState) usable() bool {
	return p.mergeable != nil && *p.mergeable && objectName.MatchString(p.merge)
}

// stage records the duration of a stage of a scan.
func (t *task) stage(name string, began time.Time) { t.w.Metrics.Stage(name, t.w.Now().Sub(began)) }
