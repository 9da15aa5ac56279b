package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// mostTwins is how many other pull requests may have the same head: GitHub is asked about
// each.
const mostTwins = 50

// others are the verdicts on all else that has this head: a check run belongs to a commit,
// so that pull requests into different branches share it, and whoever writes last must not
// pass for the others. What has no verdict yet is not passed, and gets a job.
func (t *task) others(ctx context.Context) ([]github.Verdict, error) {
	if t.job.Kind == queue.KindPush || !objectName.MatchString(t.record.Head) {
		return nil, nil
	}
	twins, err := t.twins(ctx)
	if err != nil {
		return nil, err
	}
	var all []github.Verdict
	for _, pr := range twins[:min(len(twins), mostTwins)] {
		v, err := t.verdictOn(ctx, pr)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(twins) > mostTwins {
		all = append(all, github.Verdict{
			Pull: twins[mostTwins].GetNumber(), Conclusion: github.Failure, Title: fmt.Sprintf("more than %d pull requests have this head", mostTwins),
		})
	}
	return append(all, t.groupVerdict()...), nil
}

// twins are the other open pull requests with this head, in order: those that GitHub names,
// and those that have records, since GitHub names none for a commit of a fork.
func (t *task) twins(ctx context.Context) ([]*gogithub.PullRequest, error) {
	twins, err := t.pullsOf(ctx, t.record.Head)
	if err != nil && !gone(err) {
		return nil, err
	}
	recorded, _ := t.recorded(t.record.Head)
	for _, n := range recorded[:min(len(recorded), 2*mostTwins)] {
		if n == t.job.Pull || slices.ContainsFunc(twins, func(pr *gogithub.PullRequest) bool { return pr.GetNumber() == n }) {
			continue
		}
		pr, _, err := t.client().PullRequests.Get(ctx, t.owner(), t.repo(), n)
		err = github.Explain("ask for a pull request with the same head", "pull-requests: read", err)
		switch {
		case gone(err):
		case err != nil:
			return nil, err
		case pr.GetState() == "open" && pr.GetHead().GetSHA() == t.record.Head:
			twins = append(twins, pr)
		}
	}
	twins = slices.DeleteFunc(twins, func(pr *gogithub.PullRequest) bool {
		return pr.GetNumber() == t.job.Pull || pr.GetDraft()
	})
	slices.SortFunc(twins, func(a, b *gogithub.PullRequest) int { return a.GetNumber() - b.GetNumber() })
	return twins, nil
}

// verdictOn is what was said of a twin as it is: with this head, into this branch.
func (t *task) verdictOn(ctx context.Context, pr *gogithub.PullRequest) (github.Verdict, error) {
	n := pr.GetNumber()
	for _, s := range t.scansOf(n) {
		if s.Head == t.record.Head && s.BaseRef == pr.GetBase().GetRef() && spoke(&s) {
			return verdictOf(&s), nil
		}
	}
	return unjudged(n), t.wake(ctx, queue.Job{Pull: n, Head: t.record.Head})
}

// unjudged stands for the verdict on a pull request that has none.
func unjudged(pull int) github.Verdict {
	return github.Verdict{Pull: pull, Conclusion: github.Failure, Title: "waiting for the verdict"}
}

// right tells whether a check run concludes as the verdicts on all that have this head do,
// and does not wait for one that is there.
func right(says, own github.Verdict, others []github.Verdict) bool {
	want := own.Conclusion
	for _, v := range append([]github.Verdict{own}, others...) {
		if want = github.Worst(want, v.Conclusion); v != unjudged(v.Pull) && says.Title == unjudged(v.Pull).String() {
			return false
		}
	}
	return says.Conclusion == want
}

// scansOf are the scans of a pull request, the newest first.
func (t *task) scansOf(pull int) []queue.Scan {
	return t.w.Queue.Scans(queue.ScanFilter{Installation: t.job.Installation, Repository: t.job.Repository, Pull: pull})
}

// groupVerdict is what was said of the commit as a merge group, which the merge queue
// still has.
func (t *task) groupVerdict() []github.Verdict {
	if t.job.Kind == queue.KindGroup {
		return nil
	}
	_, groups := t.recorded(t.record.Head)
	for _, s := range groups {
		switch {
		case spoke(&s):
			return []github.Verdict{verdictOf(&s)}
		case !s.State.Over():
			return []github.Verdict{unjudged(0)}
		}
	}
	return nil
}

// spoke tells whether a scan ended with a verdict, or with the failure to give one.
func spoke(s *queue.Scan) bool {
	return s.State == queue.Failed || s.State == queue.Completed && s.Conclusion != ""
}

// verdictOf is the verdict of a scan that spoke.
func verdictOf(s *queue.Scan) github.Verdict {
	v := github.Verdict{Pull: s.Pull, Conclusion: github.Conclusion(s.Conclusion)}
	if s.State == queue.Failed {
		v.Conclusion, v.Title = github.Failure, failedTitle
		return v
	}
	var parts []string
	for _, count := range []struct {
		n    int
		what string
	}{{s.Denied, "denied"}, {s.Warned, "warned"}, {s.Indeterminate, "not judged"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	if v.Title = strings.Join(parts, ", "); v.Title == "" {
		v.Title = withoutCounts(v.Conclusion)
	}
	return v
}

// withoutCounts is the title of a verdict that found nothing.
func withoutCounts(c github.Conclusion) string {
	switch c {
	case github.Success:
		return "nothing to complain about"
	case github.ActionRequired:
		return "waiting for approval"
	}
	return "not judged"
}

// lookStage is the stage of a scan that looks at the verdicts on others, or did.
const lookStage = "publish"

// look keeps in the record that others are about to be looked at: whose verdict changes
// after it cannot rely on it; see tellTwins.
func (t *task) look(ctx context.Context) error {
	t.record.Stage, t.record.Done, t.record.Total = lookStage, 0, 0
	return t.keep(ctx)
}

// tellTwins has others with this head look whether the check run is right for them, after
// this job's verdict was recorded: they may have read the one before it while it was given,
// also those that are at work, which are begun anew then.
// The same verdict once more is no news, or two of them would tell each other for ever.
func (t *task) tellTwins(ctx context.Context) error {
	for _, s := range t.earlier() {
		if s.Head == t.record.Head && spoke(&s) {
			if s.BaseRef == t.record.BaseRef && verdictOf(&s).Conclusion == github.Conclusion(t.record.Conclusion) {
				return nil
			}
			break
		}
	}
	return t.eachTwin(t.record.Head, func(n int) error {
		if s, ok := t.atWork(n); ok && s.Stage != lookStage {
			return nil
		}
		return t.enqueueTwin(ctx, queue.Job{Pull: n, Head: t.record.Head, Delivery: "twin-" + t.job.ID})
	})
}

// leaveTwins has others with heads that this pull request had judged again, after it left:
// the check run there may be about it.
func (t *task) leaveTwins(ctx context.Context, heads []string) error {
	for _, head := range heads {
		if err := t.eachTwin(head, func(n int) error {
			return t.enqueueTwin(ctx, queue.Job{Pull: n, Head: head, Fresh: true, Delivery: "left-" + t.job.ID})
		}); err != nil {
			return err
		}
	}
	return nil
}

// left are the heads that this pull request had check runs at since its last verdict, with
// the head of that, when it was not called off since. Several jobs may have begun that were
// superseded before they told others that it left.
func (t *task) left() []string {
	var heads []string
	for _, s := range t.earlier() {
		if s.State == queue.Cancelled {
			break
		}
		if s.Attempt > 0 && objectName.MatchString(s.Head) && !slices.Contains(heads, s.Head) {
			heads = append(heads, s.Head)
		}
		if spoke(&s) {
			break
		}
	}
	return heads
}

// strange tells whether a complete check run at the head may be of another pull request, or
// of this one into another branch, so that it must not stand while this one is judged.
func (t *task) strange() bool {
	if t.job.Kind != queue.KindPull {
		return false
	}
	for _, s := range t.earlier() {
		if s.Head == t.record.Head && spoke(&s) {
			return s.BaseRef != t.record.BaseRef
		}
	}
	return true
}

// eachTwin goes through the other pull requests that, by their newest records, have a head.
func (t *task) eachTwin(head string, do func(pull int) error) error {
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

// wake enqueues a job for a twin unless it has one, which will look at this one's verdict.
func (t *task) wake(ctx context.Context, j queue.Job) error {
	if _, ok := t.atWork(j.Pull); ok {
		return nil
	}
	return t.enqueueTwin(ctx, j)
}

// atWork is the scan of a pull request that has a job.
func (t *task) atWork(pull int) (queue.Scan, bool) {
	scans := t.scansOf(pull)
	if len(scans) == 0 || scans[0].State.Over() {
		return queue.Scan{}, false
	}
	return scans[0], true
}

func (t *task) enqueueTwin(ctx context.Context, j queue.Job) error {
	j.Kind, j.Installation, j.Repository, j.Owner, j.Repo = queue.KindPull, t.job.Installation, t.job.Repository, t.owner(), t.repo()
	j.Reason = "the same head as " + t.job.Subject()
	_, _, err := t.w.Queue.Enqueue(ctx, j)
	return err
}
