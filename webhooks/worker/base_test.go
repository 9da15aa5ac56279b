package worker

import (
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestStricterBase checks that a verdict against a base without policies does not count for another
// base that has the same merge base and some policies.
func TestStricterBase(t *testing.T) {
	w := newEnv(t)
	w.must(second(w.shop.ForcePush("fork", "main", githubtest.Files{"policies/policies.yaml": configMap("no", "policy")})))
	w.must(second(w.shop.ForcePush("feature", "fork", githubtest.Files{"app/two.yaml": configMap("two", "deny")})))
	w.must(second(w.shop.ForcePush("old", "fork", githubtest.Files{"app/two.yaml": configMap("three", "fine")})))
	w.must(second(w.shop.ForcePush("strict", "fork", githubtest.Files{"policies/policies.yaml": policies})))
	n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "feature", Base: "old"})
	w.must(err)
	first := w.enqueue(queue.Job{Pull: n})
	w.work()
	w.want("against the old base", w.state(first.ID), "completed success")
	w.must(w.shop.SetBase(n, "strict"))
	second := w.enqueue(queue.Job{Pull: n})
	w.work()
	w.want("against the strict base", w.state(second.ID), "completed failure")
	w.want("judged", w.record(second.ID).Judged, w.shop.Pull(n).MergeSHA)
	checks := w.checks(w.shop.Pull(n).HeadSHA)
	w.want("last check run", checks[len(checks)-1], told)
}

// TestOtherBranchSameCommit checks that a base with another name counts as another base, even at the
// same commit: permissions and requirements may differ.
func TestOtherBranchSameCommit(t *testing.T) {
	w := newEnv(t)
	w.must(w.shop.SetBranch("release", w.shop.Tip("main")))
	w.pull()
	w.work()
	w.must(w.shop.SetBase(1, "release"))
	job := w.pull()
	w.work()
	w.want("scans", w.scanner.count(), 2)
	w.want("base", w.record(job.ID).BaseRef, "release")
}

// TestLateMerge checks that a verdict on the head alone, from a time without a merge commit, does not
// count once there is one.
func TestLateMerge(t *testing.T) {
	w := newEnv(t)
	w.must(second(w.shop.ForcePush("slow", "main", githubtest.Files{"app/two.yaml": configMap("two", "fine")})))
	n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "slow", Lag: 4})
	w.must(err)
	first := w.enqueue(queue.Job{Pull: n})
	w.work()
	w.want("judged at first", w.record(first.ID).Judged, w.shop.Pull(n).HeadSHA)
	w.until("there is a merge commit", func() bool {
		pr, err := w.task(w.job(queue.Job{Pull: n})).getPull(t.Context())
		w.must(err)
		return pr.usable()
	})
	next := w.enqueue(queue.Job{Pull: n})
	w.work()
	w.want("judged then", w.record(next.ID).Judged, w.shop.Pull(n).MergeSHA)
	w.want("scans", w.scanner.count(), 2)
}

// TestAwaitedMerge checks that the merge commit is awaited, since only it contains the changes of the base
// branch after the merge base, and that a report without it has a note.
func TestAwaitedMerge(t *testing.T) {
	for name, test := range map[string]struct {
		lag            int
		patience       time.Duration
		queued         time.Duration // before the first request to GitHub
		judged, notice bool          // whether the merge commit is judged, and whether there is the note that it is not
	}{
		"it comes":          {lag: 6, patience: 20 * time.Second, judged: true},
		"after a backlog":   {lag: 6, patience: 20 * time.Second, queued: time.Hour, judged: true},
		"it does not":       {lag: 1000, patience: time.Millisecond, notice: true},
		"nor after a while": {lag: 1000, patience: time.Millisecond, queued: time.Hour, notice: true},
		"not at first":      {lag: 2, patience: time.Millisecond, judged: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.config.MergePatience = test.patience
			w.must(second(w.shop.ForcePush("late", "main", githubtest.Files{"app/two.yaml": configMap("two", "forbidden")})))
			w.must(second(w.shop.Push("main", githubtest.Files{"policies/new.yaml": strings.NewReplacer("no-deny", "no-forbidden", "'deny'", "'forbidden'", "the key deny", "the key forbidden").Replace(policies)})))
			n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "late", Lag: test.lag})
			w.must(err)
			w.later(-test.queued)
			job := w.enqueue(queue.Job{Pull: n})
			w.later(0)
			w.work()
			pr, s := w.shop.Pull(n), w.record(job.ID)
			w.want("the merge commit is judged", pr.MergeSHA != "" && s.Judged == pr.MergeSHA, test.judged)
			w.want("denied", s.Denied == 1, test.judged)
			w.want("told", strings.Contains(s.Why, "GitHub made no merge commit in time"), test.notice)
			w.want("scans", w.scanner.count(), 1)
		})
	}
}

// TestAwaitedSince checks that the time for which a merge commit is awaited counts across attempts, and
// starts again for another head.
func TestAwaitedSince(t *testing.T) {
	w := newEnv(t)
	w.config.MergePatience = 10 * time.Minute
	w.must(second(w.shop.ForcePush("late", "main", githubtest.Files{"app/two.yaml": configMap("two", "fine")})))
	w.must(second(w.shop.Push("main", githubtest.Files{"app/three.yaml": configMap("three", "fine")})))
	n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "late", Lag: 1000})
	w.must(err)
	job := w.enqueue(queue.Job{Pull: n})
	w.put(job)
	first := w.record(job.ID).Awaited
	// after runs workers after a duration, until the job waits again or has ended.
	after := func(d time.Duration, state string) time.Time {
		t.Helper()
		begun := w.record(job.ID).Started
		w.config.Now = func() time.Time { return time.Now().Add(d) }
		w.later(d)
		stop := w.start()
		w.until("the job was tried again", func() bool {
			s := w.record(job.ID)
			return s.Started.After(begun) && s.State != queue.Running
		})
		stop()
		w.want("state", w.state(job.ID), state)
		return w.record(job.ID).Awaited
	}
	w.want("since, the next time", after(2*time.Minute, "queued "), first)
	w.must(second(w.shop.Push("late", githubtest.Files{"app/four.yaml": configMap("four", "fine")})))
	if again := after(9*time.Minute, "queued "); again.Sub(first) < 8*time.Minute {
		t.Errorf("another head is awaited since %s, the first was since %s", again, first)
	}
	after(18*time.Minute, "queued ")
	after(20*time.Minute, "completed success")
}
