package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// pull brings a pull request up to date.
func (t *task) pull(ctx context.Context) error {
	pr, err := t.askPull(ctx)
	if gone(err) {
		return &overtaken{why: oneLine(err.Error())}
	}
	if err != nil {
		return err
	}
	before := t.record
	t.describe(pr)
	if err := t.sweep(ctx, before); err != nil {
		t.record.Head = before.Head // whose check run may be in progress still
		return err
	}
	if why := pr.unwanted(); why != "" {
		return t.callOff(ctx, why)
	}
	left := slices.DeleteFunc(t.left(), func(head string) bool { return head == pr.head })
	if err := t.releaseOthers(ctx, left); err != nil {
		return err
	}
	if pr.fork && !t.allowed(pr) {
		return t.standAside(ctx)
	}
	if err := t.begin(ctx, github.Target{HeadSHA: pr.head, Pull: pr.number}, everywhere()); err != nil {
		return err
	}
	if pr, err = t.settled(ctx, pr); err != nil {
		return err
	}
	against, err := t.against(ctx, pr)
	if err != nil {
		return err
	}
	same, err := t.unchanged(ctx, func(last *queue.Scan) bool { return against.judged(last, pr) })
	if err != nil || same {
		return err
	}
	c, err := t.fetchPull(ctx, pr, against)
	if err != nil {
		return err
	}
	return t.judgePull(ctx, pr, c)
}

func everywhere() github.Places {
	return github.Places{CheckRun: true, Comment: true, SARIF: true}
}

// describe puts into the record what GitHub says.
func (t *task) describe(pr *pullState) {
	r := &t.record
	if r.Head != pr.head || r.BaseRef != pr.baseRef { // of which GitHub makes another merge commit
		r.Awaited = time.Time{}
	}
	r.Owner, r.Repo, r.Private = pr.owner, pr.repo, pr.private
	r.Title, r.Author, r.Fork, r.Head = oneLine(pr.title), pr.author, pr.fork, pr.head
	r.Base, r.Judged, r.Ref, r.BaseRef = "", "", "", pr.baseRef
}

// callOff ends what is in progress of a pull request that is not to be judged.
func (t *task) callOff(ctx context.Context, why string) error {
	to, err := t.address(ctx, github.Target{HeadSHA: t.record.Head, Pull: t.job.Pull}, t.w.Name)
	if err != nil {
		return err
	}
	if _, err := to.End(ctx, github.Check{Conclusion: github.Cancelled, Title: "Cancelled", Summary: why}); err != nil && !degrades(err) {
		return err
	}
	return &overtaken{why: why}
}

func degrades(err error) bool {
	var refused *github.Error
	return errors.As(err, &refused) && refused.Degrades()
}

// sweep ends the check runs that others left in progress at other commits of the pull
// request, as a process does that ends without a word. One subject has one worker at a
// time, so whatever else began is over. before is this job's own record, as it was left.
func (t *task) sweep(ctx context.Context, before queue.Scan) error {
	for _, s := range append(t.earlier(), before) {
		if s.Attempt == 0 || s.Conclusion != "" || s.Head == t.record.Head || !objectName.MatchString(s.Head) {
			continue
		}
		if err := t.endLeft(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// endLeft ends the check run of another commit, and says so in its record if it is that
// of another job.
func (t *task) endLeft(ctx context.Context, s queue.Scan) error {
	to, err := t.address(ctx, github.Target{HeadSHA: s.Head, Pull: t.job.Pull}, t.w.Name)
	if err != nil {
		return err
	}
	cancelled := github.Check{Conclusion: github.Cancelled, Title: "Superseded", Summary: "The pull request has another head since, which is judged instead."}
	if _, err := to.End(ctx, cancelled); err != nil && !degrades(err) {
		return err
	}
	if s.ID == t.job.ID {
		return nil
	}
	s.Conclusion = string(github.Cancelled)
	if err := t.w.Queue.PutScan(ctx, s); err != nil {
		t.log.Info("a scan that was left has another record now", "scan", s.ID, "error", err)
	}
	return nil
}

// allowed reports whether the pull request of a fork may be judged.
func (t *task) allowed(pr *pullState) bool {
	switch t.w.Forks {
	case ForksOn:
		return true
	case ForksApprove:
		return t.approved(pr)
	}
	return false
}

// approved reports whether somebody with write access asked for this very commit. What was
// judged before was asked for, or pushed to the repository itself: with the head of
// another's pull request nobody outside can have that one wait for approval.
func (t *task) approved(pr *pullState) bool {
	if t.job.Kind == queue.KindPull && t.job.Command == rescan && t.job.Approved == pr.head {
		return true
	}
	for _, s := range t.w.Queue.Scans(queue.ScanFilter{Installation: t.job.Installation, Repository: t.job.Repository, Head: pr.head}) {
		if s.ID != t.job.ID && s.Judged != "" {
			return true
		}
	}
	return false
}

// standAside says in a check run that a pull request of a fork is not judged.
func (t *task) standAside(ctx context.Context) error {
	if err := t.completeAside(ctx); err != nil {
		return err
	}
	why := "pull requests from forks are not judged"
	if t.w.Forks == ForksApprove { // GitHub leads from the check run to the page that says this
		why = "a pull request from a fork waits for approval: somebody with write access comments " + rescan + " " + t.record.Head
	}
	t.record.Conclusion = string(t.aside())
	t.w.Metrics.ScanEnded(t.record.Conclusion)
	if err := t.end(ctx, queue.Completed, why); err != nil {
		return err
	}
	return t.recheckOthers(ctx)
}

// aside is the conclusion on a pull request of a fork that is not judged: one that waits for
// approval must not be merged, while GitHub counts neutral as passed.
func (t *task) aside() github.Conclusion {
	if t.w.Forks == ForksApprove {
		return github.ActionRequired
	}
	return github.Neutral
}

// completeAside completes the check run of a pull request of a fork with why it is not
// judged, and with what to write to have it judged.
func (t *task) completeAside(ctx context.Context) error {
	check := github.Check{
		Conclusion: t.aside(), Title: "Pull requests from forks are not judged",
		Summary: "Nothing was read of this pull request. Who runs preadmit here decides that.",
	}
	if t.w.Forks == ForksApprove {
		check.Title = "Waiting for approval"
		check.Summary = "This pull request is from a fork. The comment\n\n```\n" + rescan + " " + t.record.Head +
			"\n```\n\nby somebody with write access has this commit judged, and no later one.\n"
	}
	if err := t.beginPublishing(ctx); err != nil {
		return err
	}
	others, err := t.others(ctx)
	if err != nil {
		return err
	}
	if err := t.complete(ctx, check.Beside(t.job.Pull, others)); err != nil && !degrades(err) {
		return err
	}
	return nil
}

// unchanged reports whether the same commits were judged last, and GitHub has the verdict,
// together with those on others with this head. The record says so then.
func (t *task) unchanged(ctx context.Context, same func(last *queue.Scan) bool) (bool, error) {
	last, ok := t.lastWord()
	if t.job.Fresh || !ok || last.State != queue.Completed || !same(&last) {
		return false, nil
	}
	others, err := t.others(ctx)
	if err != nil {
		return false, err
	}
	if says, err := t.to.LastVerdict(ctx); err != nil || !right(says, verdictOf(&last), others) {
		if degrades(err) {
			err = nil
		}
		return false, err
	}
	t.w.Metrics.ScanEnded("unchanged")
	r := &t.record
	r.Base, r.Judged, r.Ref, r.Conclusion = last.Base, last.Judged, last.Ref, last.Conclusion
	r.Denied, r.Warned, r.Indeterminate = last.Denied, last.Warned, last.Indeterminate
	r.CommentURL = last.CommentURL
	return true, t.end(ctx, queue.Completed, "the same commits were judged already, by the scan "+last.ID)
}
