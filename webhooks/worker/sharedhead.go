package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// maxOthers limits the other pull requests with the same head, since each costs requests to
// GitHub.
const maxOthers = 50

// others returns the verdicts on everything else that has this head. A check run belongs to a
// commit: pull requests into different branches share it, and the last writer must not hide the
// verdicts on the others. A pull request without a verdict counts as failed, and a job for it
// is enqueued.
func (t *task) others(ctx context.Context) ([]github.Verdict, error) {
	if t.job.Kind == queue.KindPush || !objectName.MatchString(t.record.Head) {
		return nil, nil
	}
	others, err := t.sharingHead(ctx)
	if err != nil {
		return nil, err
	}
	var all []github.Verdict
	for _, pr := range others[:min(len(others), maxOthers)] {
		v, err := t.verdictOn(ctx, pr)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(others) > maxOthers {
		all = append(all, github.Verdict{
			Pull: others[maxOthers].GetNumber(), Conclusion: github.Failure, Title: fmt.Sprintf("more than %d pull requests have this head", maxOthers),
		})
	}
	return append(all, t.groupVerdict()...), nil
}

// sharingHead returns the other open pull requests with this head, in order: those that GitHub
// lists, and those with records, since GitHub lists none for a commit of a fork.
func (t *task) sharingHead(ctx context.Context) ([]*gogithub.PullRequest, error) {
	others, err := t.pullsOf(ctx, t.record.Head)
	if err != nil && !gone(err) {
		return nil, err
	}
	recorded, _ := t.recorded(t.record.Head)
	for _, n := range recorded[:min(len(recorded), 2*maxOthers)] {
		if n == t.job.Pull || slices.ContainsFunc(others, func(pr *gogithub.PullRequest) bool { return pr.GetNumber() == n }) {
			continue
		}
		pr, _, err := t.client().PullRequests.Get(ctx, t.owner(), t.repo(), n)
		err = github.Explain("ask for a pull request with the same head", "pull-requests: read", err)
		switch {
		case gone(err):
		case err != nil:
			return nil, err
		case pr.GetState() == "open" && pr.GetHead().GetSHA() == t.record.Head:
			others = append(others, pr)
		}
	}
	others = slices.DeleteFunc(others, func(pr *gogithub.PullRequest) bool {
		return pr.GetNumber() == t.job.Pull || pr.GetDraft()
	})
	slices.SortFunc(others, func(a, b *gogithub.PullRequest) int { return a.GetNumber() - b.GetNumber() })
	return others, nil
}

// verdictOn returns the verdict on another pull request with this head and its current base.
func (t *task) verdictOn(ctx context.Context, pr *gogithub.PullRequest) (github.Verdict, error) {
	n := pr.GetNumber()
	for _, s := range t.scansOf(n) {
		if s.Head == t.record.Head && s.BaseRef == pr.GetBase().GetRef() && ended(&s) {
			return verdictOf(&s), nil
		}
	}
	return unjudged(n), t.wake(ctx, queue.Job{Pull: n, Head: t.record.Head})
}

// unjudged returns the placeholder for the verdict on a pull request that has none.
func unjudged(pull int) github.Verdict {
	return github.Verdict{Pull: pull, Conclusion: github.Failure, Title: "waiting for the verdict"}
}

// right reports whether a check run has the conclusion of all verdicts on this head, and does not
// wait for a verdict that exists.
func right(says, own github.Verdict, others []github.Verdict) bool {
	want := own.Conclusion
	for _, v := range append([]github.Verdict{own}, others...) {
		if want = github.Worst(want, v.Conclusion); v != unjudged(v.Pull) && says.Title == unjudged(v.Pull).String() {
			return false
		}
	}
	return says.Conclusion == want
}

// scansOf returns the scans of a pull request, the newest first.
func (t *task) scansOf(pull int) []queue.Scan {
	return t.w.Queue.Scans(queue.ScanFilter{Installation: t.job.Installation, Repository: t.job.Repository, Pull: pull})
}

// groupVerdict returns the verdict on the commit as a merge group that is still in the merge
// queue, if any.
func (t *task) groupVerdict() []github.Verdict {
	if t.job.Kind == queue.KindGroup {
		return nil
	}
	_, groups := t.recorded(t.record.Head)
	for _, s := range groups {
		switch {
		case ended(&s):
			return []github.Verdict{verdictOf(&s)}
		case !s.State.Over():
			return []github.Verdict{unjudged(0)}
		}
	}
	return nil
}

// ended reports whether a scan ended with a verdict or failed.
func ended(s *queue.Scan) bool {
	return s.State == queue.Failed || s.State == queue.Completed && s.Conclusion != ""
}

// verdictOf returns the verdict of a scan that ended.
func verdictOf(s *queue.Scan) github.Verdict {
	v := github.Verdict{Pull: s.Pull, Conclusion: github.Conclusion(s.Conclusion)}
	if s.State == queue.Failed {
		v.Conclusion, v.Title = github.Failure, failedTitle
		return v
	}
	if v.Title = s.CountsText(); v.Title == "" {
		v.Title = withoutCounts(v.Conclusion)
	}
	return v
}

// withoutCounts returns the title of a verdict without findings.
func withoutCounts(c github.Conclusion) string {
	switch c {
	case github.Success:
		return "no findings"
	case github.ActionRequired:
		return "waiting for approval"
	}
	return "not judged"
}

// publishStage is the stage of a scan that reads, or has read, the verdicts on others.
const publishStage = "publish"

// beginPublishing records that the verdicts on others are about to be read: a verdict that changes
// afterwards may be missing in the check run; see recheckOthers.
func (t *task) beginPublishing(ctx context.Context) error {
	t.record.Stage, t.record.Done, t.record.Total = publishStage, 0, 0
	return t.keep(ctx)
}

// recheckOthers enqueues jobs for the others with this head after this job's verdict was
// recorded: they may have read the verdicts before that. A running scan of them that has read
// verdicts already starts again. If this job's verdict did not change, nothing is enqueued:
// otherwise two pull requests would enqueue each other for ever.
func (t *task) recheckOthers(ctx context.Context) error {
	for _, s := range t.earlier() {
		if s.Head == t.record.Head && ended(&s) {
			if s.BaseRef == t.record.BaseRef && verdictOf(&s).Conclusion == github.Conclusion(t.record.Conclusion) {
				return nil
			}
			break
		}
	}
	return t.eachOther(t.record.Head, func(n int) error {
		if s, ok := t.atWork(n); ok && s.Stage != publishStage {
			return nil
		}
		return t.enqueueOther(ctx, queue.Job{Pull: n, Head: t.record.Head, Delivery: "same-head-" + t.job.ID})
	})
}

// releaseOthers enqueues jobs for others whose head this pull request had before: the check run
// of that head may contain its verdict, which no longer counts.
func (t *task) releaseOthers(ctx context.Context, heads []string) error {
	for _, head := range heads {
		if err := t.eachOther(head, func(n int) error {
			return t.enqueueOther(ctx, queue.Job{Pull: n, Head: head, Fresh: true, Delivery: "left-" + t.job.ID})
		}); err != nil {
			return err
		}
	}
	return nil
}

// left returns the heads of this pull request since its last verdict, that of the verdict
// included, or since it was cancelled. Several jobs may have begun and been superseded before
// they called releaseOthers.
func (t *task) left() []string {
	var heads []string
	for _, s := range t.earlier() {
		if s.State == queue.Cancelled {
			break
		}
		if s.Attempt > 0 && objectName.MatchString(s.Head) && !slices.Contains(heads, s.Head) {
			heads = append(heads, s.Head)
		}
		if ended(&s) {
			break
		}
	}
	return heads
}

// mayBeOfAnother reports whether a completed check run at the head, with the details URL page, may
// belong to another pull request, or to this one with another base: its conclusion must not stay
// while this one is judged. A verdict of another replica that is not known here yet is looked up
// by the scan's id in page.
func (t *task) mayBeOfAnother(ctx context.Context, page string) (bool, error) {
	if t.job.Kind != queue.KindPull {
		return false, nil
	}
	for _, s := range t.earlier() {
		if s.Head == t.record.Head && ended(&s) {
			if s.BaseRef == t.record.BaseRef {
				return false, nil
			}
			break
		}
	}
	id, ok := strings.CutPrefix(page, t.w.pageOf(""))
	if t.w.PublicURL == "" || !ok {
		return true, nil
	}
	s, err := t.w.Queue.StoredScan(ctx, t.job.Installation, t.job.Repository, id)
	if errors.Is(err, queue.ErrNotFound) {
		return true, nil
	}
	// Even without a verdict: the process may have ended before it recorded one.
	own := s.Kind == t.job.Kind && s.Pull == t.job.Pull && s.Attempt > 0 && s.Head == t.record.Head && s.BaseRef == t.record.BaseRef
	return !own, asStoreError(err)
}

// eachOther calls do for each other pull request whose newest record has the head.
func (t *task) eachOther(head string, do func(pull int) error) error {
	if t.job.Kind == queue.KindPush || !objectName.MatchString(head) {
		return nil
	}
	numbers, _ := t.recorded(head)
	for _, n := range numbers {
		if scans := t.scansOf(n); n == t.job.Pull || len(scans) == 0 || scans[0].Head != head || scans[0].State == queue.Cancelled {
			continue
		}
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}

// wake enqueues a job for another pull request unless it has one already, which will read this
// one's verdict.
func (t *task) wake(ctx context.Context, j queue.Job) error {
	if _, ok := t.atWork(j.Pull); ok {
		return nil
	}
	return t.enqueueOther(ctx, j)
}

// atWork returns the scan of a pull request that is queued or running.
func (t *task) atWork(pull int) (queue.Scan, bool) {
	scans := t.scansOf(pull)
	if len(scans) == 0 || scans[0].State.Over() {
		return queue.Scan{}, false
	}
	return scans[0], true
}

func (t *task) enqueueOther(ctx context.Context, j queue.Job) error {
	j.Kind, j.Installation, j.Repository, j.Owner, j.Repo = queue.KindPull, t.job.Installation, t.job.Repository, t.owner(), t.repo()
	j.Reason = "the same head as " + t.job.Subject()
	_, _, err := t.w.enqueue(ctx, j)
	return err
}
