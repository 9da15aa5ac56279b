package worker

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// settle ends the job according to err and the cause that ended ctx, and leaves nothing in progress.
func (t *task) settle(ctx context.Context, err error) {
	how := endOf(ctx, err)
	ctx, cancel := grace(ctx)
	defer cancel()
	if err != nil {
		t.log.Info("job ended", "error", err)
	}
	var trouble error
	switch how {
	case endLost: // another process reports the result
		t.claim.Abandon()
		return
	case endDone:
		trouble = t.claim.Done(ctx)
	case endSuperseded:
		trouble = t.superseded(ctx)
	case endReleased:
		trouble = t.claim.Release(ctx)
	case endOvertaken:
		trouble = t.overtaken(ctx, err)
	case endRefused:
		trouble = t.fail(ctx, err, t.claim.Done)
	case endFailed:
		trouble = t.fail(ctx, err, func(ctx context.Context) error { return t.bury(ctx, err) })
	case endRetried:
		trouble = t.retry(ctx, err)
	case endPostponed:
		trouble = t.claim.Postpone(ctx, t.whenLimited(err), err)
	}
	if trouble != nil { // the job is handed out again after its lease
		t.log.Error("end a job", "error", trouble)
		t.claim.Abandon()
	}
}

// lateTries is how often a job is tried while it waits for a merge commit.
const lateTries = 10

// whenLimited returns when the job may be tried again: the time that GitHub gave, or a default.
func (t *task) whenLimited(err error) time.Time {
	if late := new(lateError); errors.As(err, &late) {
		return t.w.Now().Add(t.w.MergePatience / lateTries)
	}
	if limited := new(github.Error); errors.As(err, &limited) && limited.Until.After(t.w.Now()) {
		return limited.Until
	}
	return t.w.Now().Add(t.w.LimitWait)
}

// superseded ends a job that was replaced by a newer one. A check run of the same commit is left
// to that job. The queue records which job it is.
func (t *task) superseded(ctx context.Context) error {
	if _, err := t.w.Queue.Scan(ctx, t.job.ID); t.job.Kind.Judges() && err == nil { // otherwise it was forgotten
		if t.publication != nil && !t.successorJudges(ctx) {
			t.cancelled(ctx, "Superseded", "The pull request has changed since. Its newest commit is judged instead.")
		}
		t.record.Why = "superseded by a newer event"
		if err := t.keep(ctx); err != nil {
			t.log.Warn("superseded", "error", err)
		}
		t.w.Metrics.ScanEnded("superseded")
	}
	return t.claim.Done(ctx)
}

// cancelled ends the check run if it is in progress. A completed one has the verdict of an earlier
// scan of the same commit, which stays. On an error the record gets no conclusion, so that the
// next job of the pull request tries again.
func (t *task) cancelled(ctx context.Context, title, why string) {
	if err := t.cancelRun(ctx, github.Check{Conclusion: github.Cancelled, Title: title, Summary: why}); err != nil && !degrades(err) {
		t.log.Warn("cancel a check run", "error", err)
		return
	}
	t.record.Conclusion = string(github.Cancelled)
}

func (t *task) cancelRun(ctx context.Context, check github.Check) error {
	if !t.publication.Started() { // GitHub may have created one, and the response was lost
		_, err := t.to.End(ctx, check)
		return err
	}
	if complete, err := t.to.Completed(ctx); err == nil && complete {
		return nil
	}
	return t.publication.Abandon(ctx, check)
}

// successorJudges reports whether a newer job judges the same commit as this one. A merge group
// always has the same commit.
func (t *task) successorJudges(ctx context.Context) bool {
	if t.job.Kind != queue.KindPull {
		return true
	}
	pr, err := t.getPull(ctx)
	return err == nil && pr.open() && pr.head == t.record.Head
}

// overtaken ends a job that is outdated according to GitHub.
func (t *task) overtaken(ctx context.Context, err error) error {
	var left *overtaken
	errors.As(err, &left)
	if t.publication != nil {
		t.cancelled(ctx, "Cancelled", left.why)
	} else {
		t.record.Conclusion = string(github.Cancelled)
	}
	if left.again {
		return t.enqueueSuccessor(ctx, left)
	}
	t.w.Metrics.ScanEnded("cancelled")
	heads := t.left()
	if t.publication != nil {
		heads = []string{t.record.Head}
	}
	return errors.Join(t.end(ctx, queue.Cancelled, left.why), t.releaseOthers(ctx, heads), t.claim.Done(ctx))
}

// enqueueSuccessor ends a job and enqueues one for the current state. A delivery may cause the same job,
// but deliveries get lost. The new job replaces this one, or one that waits, and inherits its
// approval, which may be newer than this job's.
func (t *task) enqueueSuccessor(ctx context.Context, left *overtaken) error {
	j := t.job
	next, _, err := t.w.enqueue(ctx, queue.Job{
		Kind: j.Kind, Installation: j.Installation, Repository: j.Repository, Owner: t.owner(), Repo: t.repo(),
		Pull: j.Pull, Head: left.head, Reason: "changed during " + j.ID,
	})
	if err != nil {
		return err
	}
	t.w.Metrics.ScanEnded("superseded")
	t.record.SupersededBy = next.ID
	return errors.Join(t.end(ctx, queue.Superseded, left.why), t.claim.Done(ctx))
}

// bury makes the job a dead letter, unless it is one already.
func (t *task) bury(ctx context.Context, why error) error {
	if t.claim.Exhausted() {
		return t.claim.Done(ctx)
	}
	return t.claim.Bury(ctx, errors.New(oneLine(why.Error())))
}

// retry returns the job to the queue for a later attempt, and fails it after the last one.
func (t *task) retry(ctx context.Context, why error) error {
	why = errors.New(oneLine(why.Error()))
	again := func(ctx context.Context) error { _, err := t.claim.Retry(ctx, why); return err }
	if t.claim.Last() {
		return t.fail(ctx, why, again)
	}
	return again(ctx)
}

// objectName matches full names of commits.
var objectName = regexp.MustCompile(`^[0-9a-f]{40}$`)

// failedTitle is the title of a check run when nothing was judged.
const failedTitle = "The scan could not be completed"

// fail reports the failure of a job in a check run if the commit is known, in the comment if there
// is one, and in its record, and then ends the job. If GitHub does not accept that for now, an
// older verdict may still be shown there: then the job is tried again, as long as it may be.
func (t *task) fail(ctx context.Context, why error, end func(context.Context) error) error {
	if !t.job.Kind.Judges() {
		return end(ctx)
	}
	check := github.Check{
		Conclusion: github.Failure, Title: failedTitle,
		Summary: "Nothing was judged.\n\n" + escape.CodeSpan(oneLine(why.Error())) + "\n",
	}
	if err := errors.Join(t.correct(ctx, why), t.complete(ctx, check)); err != nil {
		t.log.Warn("tell of a failure", "error", err)
		why := errors.New(oneLine(why.Error()))
		switch how := endOfFailure(err); {
		case how == endPostponed && !t.claim.Exhausted():
			return t.claim.Postpone(ctx, t.whenLimited(err), why)
		case how == endRetried && !t.claim.Last():
			_, err := t.claim.Retry(ctx, why)
			return err
		}
	}
	t.w.Metrics.ScanEnded("failed")
	t.record.Conclusion = string(github.Failure)
	return errors.Join(t.end(ctx, queue.Failed, why.Error()), t.recheckOthers(ctx), end(ctx))
}

// correct updates the comment, if there is one, to state that the newest commit could not be
// scanned: otherwise it shows the verdict on an older one. A verdict already published stays.
func (t *task) correct(ctx context.Context, why error) error {
	head := cmp.Or(t.record.Head, t.job.Head)
	if t.job.Kind != queue.KindPull || !objectName.MatchString(head) || t.publication != nil && t.publication.Ended() {
		return nil
	}
	to, err := t.address(ctx, github.Target{HeadSHA: head, Pull: t.job.Pull}, t.w.Name)
	if err != nil {
		return err
	}
	body := ":x: **preadmit**: the newest commit could not be scanned, so nothing was judged: " + escape.CodeSpan(oneLine(why.Error())) + "\n"
	done, err := to.Comment(ctx, github.Comment{Body: body, Corrects: true})
	if degrades(err) {
		t.log.Info("the comment stays as it is", "error", err)
		return nil
	}
	t.record.CommentURL = cmp.Or(done.URL, t.record.CommentURL)
	return err
}

// complete completes the check run of the judged commit without a report. A baseline has a check
// run only in this case, which does not block and has a name of its own.
func (t *task) complete(ctx context.Context, check github.Check) error {
	if t.publication != nil && t.publication.Started() {
		return t.publication.Abandon(ctx, check)
	}
	head := cmp.Or(t.record.Head, t.job.Head)
	if !objectName.MatchString(head) {
		return &finalError{errors.New("no commit is known to tell it of")}
	}
	name := t.w.Name
	if t.job.Kind == queue.KindPush {
		name = t.baselineName()
		check.Conclusion = github.Neutral
	}
	to, err := t.address(ctx, github.Target{HeadSHA: head, Pull: t.job.Pull}, name)
	if err != nil {
		return err
	}
	done, err := to.Renew(ctx, check)
	t.record.CheckURL = cmp.Or(done.URL, t.record.CheckURL)
	return err
}
