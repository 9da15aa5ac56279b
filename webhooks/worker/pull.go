package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// pull processes a job for a pull request.
func (t *task) pull(ctx context.Context) error {
	pr, err := t.getPull(ctx)
	if gone(err) {
		return &overtaken{why: oneLine(err.Error())}
	}
	if err != nil {
		return err
	}
	before := t.record
	t.describe(pr)
	if err := t.endOldRuns(ctx, before); err != nil {
		t.record.Head = before.Head // whose check run may still be in progress
		return err
	}
	if why := pr.unwanted(); why != "" {
		return t.endUnwanted(ctx, why)
	}
	left := slices.DeleteFunc(t.left(), func(head string) bool { return head == pr.head })
	if err := t.releaseOthers(ctx, left); err != nil {
		return err
	}
	if pr.fork && !t.allowed(pr) {
		return t.declineFork(ctx)
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

// describe copies the state of the pull request into the record.
func (t *task) describe(pr *pullState) {
	r := &t.record
	if r.Head != pr.head || r.BaseRef != pr.baseRef { // GitHub makes another merge commit for these
		r.Awaited = time.Time{}
	}
	r.Owner, r.Repo, r.Private = pr.owner, pr.repo, pr.private
	r.Title, r.Author, r.Fork, r.Head = oneLine(pr.title), pr.author, pr.fork, pr.head
	r.Base, r.Judged, r.Ref, r.BaseRef = "", "", "", pr.baseRef
}

// endUnwanted ends the check run of a pull request or merge group that must not be judged.
func (t *task) endUnwanted(ctx context.Context, why string) error {
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

// endOldRuns ends check runs in progress at other commits of the pull request, which a process leaves
// behind when it crashes. One subject has one worker at a time, so no other job is in progress.
// before is this job's own record before the state was read.
func (t *task) endOldRuns(ctx context.Context, before queue.Scan) error {
	for _, s := range append(t.earlier(), before) {
		if s.Attempt == 0 || s.Conclusion != "" || s.Head == t.record.Head || !objectName.MatchString(s.Head) {
			continue
		}
		if err := t.endOldRun(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// endOldRun ends the check run of another commit, and records that if the scan belongs to another
// job.
func (t *task) endOldRun(ctx context.Context, s queue.Scan) error {
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

// approved reports whether somebody with write access approved this commit. A commit that was
// judged before was approved, or pushed to the repository itself; otherwise an outsider could
// block another pull request by opening one with the same head.
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

// declineFork completes the check run of a pull request of a fork without judging it.
func (t *task) declineFork(ctx context.Context) error {
	if err := t.completeDeclined(ctx); err != nil {
		return err
	}
	why := "pull requests from forks are not judged"
	if t.w.Forks == ForksApprove { // GitHub links the check run to the page that shows this
		why = "a pull request from a fork waits for approval: somebody with write access comments " + rescan + " " + t.record.Head
	}
	t.record.Conclusion = string(t.declinedConclusion())
	t.w.Metrics.ScanEnded(t.record.Conclusion)
	if err := t.end(ctx, queue.Completed, why); err != nil {
		return err
	}
	return t.recheckOthers(ctx)
}

// declinedConclusion returns the conclusion for a pull request of a fork that is not judged. One that waits for
// approval must not be merged, and GitHub treats neutral as passed.
func (t *task) declinedConclusion() github.Conclusion {
	if t.w.Forks == ForksApprove {
		return github.ActionRequired
	}
	return github.Neutral
}

// completeDeclined completes the check run of a pull request of a fork: it explains why it is not
// judged, and which comment approves it.
func (t *task) completeDeclined(ctx context.Context) error {
	check := github.Check{
		Conclusion: t.declinedConclusion(), Title: "Pull requests from forks are not judged",
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

// unchanged reports whether the last scan judged the same commits and its verdict, combined with
// those on others with this head, is on GitHub. If so, it ends the job's record with that verdict.
func (t *task) unchanged(ctx context.Context, same func(last *queue.Scan) bool) (bool, error) {
	last, ok := t.lastStarted()
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
