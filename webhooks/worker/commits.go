package worker

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// commits are the fetched commits that are compared.
type commits struct {
	repository *gittree.Repository
	// base is the commit to compare with, "" to judge everything; judged is the one to judge,
	// and head is the one that the check run belongs to.
	base, judged, head string
	// baseName, judgedName and ref are shown in the report; ref is also for code scanning.
	baseName, judgedName, ref string
}

// against has the commits that a head may be compared with, as read from GitHub's API.
type against struct {
	// tip is the current commit of the base branch, and fork the merge base with it.
	tip, fork string
	// notice is a note for the reader, or "".
	notice string
}

// against reads the commit of the base branch and the merge base from GitHub.
func (t *task) against(ctx context.Context, pr *pullState) (*against, error) {
	// The commits and files in the response are not used.
	got, _, err := t.client().Repositories.CompareCommits(ctx, t.owner(), t.repo(), pr.baseRef, pr.head, &gogithub.ListOptions{PerPage: 1})
	err = github.Explain("compare the pull request with its base", "contents: read", err)
	switch {
	case gone(err): // no common commit, or the branch was deleted
		return &against{tip: pr.base, fork: pr.base, notice: "There is no merge base, so " + pr.base + " is compared with."}, nil
	case err != nil:
		return nil, err
	}
	a := &against{tip: got.GetBaseCommit().GetSHA(), fork: got.GetMergeBaseCommit().GetSHA()}
	for _, name := range []string{a.tip, a.fork} {
		if !objectName.MatchString(name) {
			return nil, fmt.Errorf("compare the pull request with its base: GitHub returned the commit %q", name)
		}
	}
	return a, nil
}

// judged reports whether a scan judged the same commits. A verdict on the head alone, from a time
// without a merge commit, does not count for the merge commit.
func (a *against) judged(last *queue.Scan, pr *pullState) bool {
	switch {
	case last.Head != pr.head || last.BaseRef != pr.baseRef:
		return false
	case pr.usable():
		return last.Judged == pr.merge && last.Base == a.tip
	case !a.alone(pr):
		return false
	}
	return last.Judged == pr.head && last.Base == a.fork
}

// fetchPull fetches what is compared: the merge commit with the base branch if GitHub has it for
// the current state of both, else the head with the merge base.
func (t *task) fetchPull(ctx context.Context, pr *pullState, a *against) (*commits, error) {
	if pr.usable() {
		if c, err := t.fetchMerge(ctx, pr, a); c != nil || err != nil {
			return c, err
		}
	}
	if err := t.late(ctx, pr, a); err != nil {
		return nil, err
	}
	if a.notice != "" {
		t.publication.AddNote("%s", a.notice)
	}
	c := &commits{
		base: a.fork, judged: pr.head, head: pr.head,
		baseName: "merge base with " + pr.baseRef, judgedName: fmt.Sprintf("refs/pull/%d/head", pr.number),
	}
	c.ref = c.judgedName
	return c, t.fetch(ctx, c, a.fork, pr.head)
}

// alone reports whether only the head has to be judged: the base branch is still at the merge base,
// or both conflict, so that GitHub makes no merge commit.
func (a *against) alone(pr *pullState) bool {
	return a.tip == a.fork || pr.mergeable != nil && !*pr.mergeable
}

// late returns a lateError while GitHub may still make a merge commit that shows more than the
// head, until MergePatience is over.
func (t *task) late(ctx context.Context, pr *pullState, a *against) error {
	if a.alone(pr) {
		return nil
	}
	waited, err := t.await(ctx)
	if err != nil {
		return err
	}
	if waited < t.w.MergePatience {
		return &lateError{"GitHub has made no merge commit of " + pr.head + " with " + pr.baseRef + " yet"}
	}
	a.notice = "GitHub made no merge commit in time, so the head is compared with the merge base: what changed on " +
		escape.Line(pr.baseRef) + " since then, policies too, is not looked at."
	return nil
}

// await returns how long the merge commit has been awaited, according to the record. GitHub begins
// to make it when the pull request is requested, however long the job waited before.
func (t *task) await(ctx context.Context) (time.Duration, error) {
	now := t.w.Now().Round(0).UTC()
	if t.record.Awaited.IsZero() {
		t.record.Awaited = now
		if err := t.keep(ctx); err != nil {
			return 0, err
		}
	}
	return now.Sub(t.record.Awaited), nil
}

// fetchMerge fetches the merge commit. It returns nil without an error if this is not the merge of
// the head with the current base branch: GitHub updates it some time after a push.
func (t *task) fetchMerge(ctx context.Context, pr *pullState, a *against) (*commits, error) {
	c := &commits{
		base: a.tip, judged: pr.merge, head: pr.head,
		baseName: pr.baseRef, judgedName: fmt.Sprintf("refs/pull/%d/merge", pr.number),
	}
	c.ref = c.judgedName
	err := t.fetch(ctx, c, a.tip, pr.merge, pr.head)
	switch {
	case err != nil && (ctx.Err() != nil || endOfFailure(err) == endRefused):
		return nil, err
	case err != nil:
		t.log.Info("the merge commit cannot be fetched", "error", err)
		return nil, nil
	}
	commit, err := c.repository.Commit(pr.merge)
	if err != nil {
		return nil, fmt.Errorf("read the merge commit: %w", err)
	}
	if p := commit.Parents(); len(p) != 2 || p[0] != a.tip || p[1] != pr.head {
		return nil, nil
	}
	return c, nil
}

// fetch fetches commits by their names, without history, into the task's directory.
func (t *task) fetch(ctx context.Context, c *commits, names ...string) error {
	began := t.w.Now()
	defer func() { t.stage("fetch", began) }()
	t.report(ctx, "fetch", 0, 0)
	token, err := t.access.Token(ctx)
	if err != nil {
		return err
	}
	if t.dir == "" {
		if t.dir, err = t.w.workDir.take(); err != nil {
			return fmt.Errorf("make a directory to fetch into: %w", err)
		}
	}
	most := t.w.Limits
	ctx, cancel := context.WithTimeoutCause(ctx, most.Time, &gittree.LimitError{Limit: gittree.LimitTime, Max: int64(most.Time.Seconds())})
	defer cancel()
	remote := gittree.Remote{
		URL: t.w.GitURL(t.owner(), t.repo()), Token: token, Transport: t.w.Transport, Limits: most.Limits,
	}
	// The name .git makes it a repository even if its directory is inside a git work tree.
	c.repository, err = gittree.Fetch(ctx, filepath.Join(t.dir, ".git"), remote, names...)
	if err != nil {
		return err
	}
	r := &t.record
	r.Base, r.Judged, r.Ref = c.base, c.judged, cmp.Or(c.ref, r.Ref)
	return nil
}
