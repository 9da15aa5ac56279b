package worker

import (
	"context"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// other opens a pull request with the head of pull request 1 into a branch without policies.
func (w *env) other() int {
	w.t.Helper()
	w.must(second(w.shop.Push("lenient", githubtest.Files{"policies/policies.yaml": configMap("no", "policy")})))
	n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "change", Base: "lenient"})
	w.must(err)
	return n
}

// says returns the newest check run of a commit, which is the one that counts.
func (w *env) newestCheckRun(sha string) string {
	w.t.Helper()
	all := w.checks(sha)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// TestSharedHead checks that the check run of a commit shows the worst verdict of all pull requests with
// this head, whichever is judged last, until only one is left.
func TestSharedHead(t *testing.T) {
	w := newEnv(t)
	sha := w.shop.Pull(1).HeadSHA
	w.pull()
	w.work()
	other := w.other()
	job := w.enqueue(queue.Job{Pull: other})
	w.work()
	w.want("record of the other", w.state(job.ID), "completed success")
	w.want("with another that passes", w.newestCheckRun(sha), "completed failure: #1: 1 denied")
	if runs := w.hub.CheckRuns(); !strings.Contains(runs[len(runs)-1].Summary, "- #2: success, ") {
		t.Errorf("summary %q", runs[len(runs)-1].Summary)
	}
	scans := w.scanner.count()
	w.pull()
	w.work()
	w.want("scans when nothing changed", w.scanner.count(), scans)

	w.must(w.shop.ClosePull(1))
	w.pull()
	w.work()
	w.want("without the one that fails", w.newestCheckRun(sha), "completed success: no findings")
	scans = w.scanner.count()
	w.pull() // again, like a redelivery
	w.work()
	w.want("scans when it is known to be closed", w.scanner.count(), scans)
}

// TestSharedHeadUnjudged checks that a pull request with the same head and no job is enqueued, and its
// verdict awaited.
func TestSharedHeadUnjudged(t *testing.T) {
	w := newEnv(t)
	w.config.Concurrency = 1
	sha := w.shop.Pull(1).HeadSHA
	other := w.other()
	w.enqueue(queue.Job{Pull: other})
	claim, err := w.queue.Next(t.Context())
	w.must(err)
	worker := w.worker()
	worker.workDir, err = openWorkDir(t.TempDir())
	w.must(err)
	defer worker.workDir.close()
	worker.work(claim)
	w.want("before the other is judged", w.newestCheckRun(sha), "completed failure: #1: waiting for the verdict")
	w.work()
	w.want("after", w.newestCheckRun(sha), "completed failure: #1: 1 denied")
}

// TestSharedHeadAtOnce checks that of pull requests with the same head that are judged concurrently none
// keeps waiting for the other.
func TestSharedHeadAtOnce(t *testing.T) {
	w := newEnv(t)
	sha := w.shop.Pull(1).HeadSHA
	other := w.other()
	w.must(w.shop.SetBase(1, "lenient"))
	w.must(w.shop.SetBranch("soft", w.shop.Tip("lenient")))
	w.must(w.shop.SetBase(other, "soft"))
	entered, release := w.scanner.hold()
	stop := w.start()
	w.pull()
	w.enqueue(queue.Job{Pull: other})
	<-entered
	<-entered
	release()
	w.idle()
	stop()
	if got := w.newestCheckRun(sha); !strings.HasPrefix(got, "completed success: ") {
		t.Errorf("check run %q", got)
	}
}

// TestSharedHeadMoves checks that the old check run no longer depends on a pull request with a new head.
func TestSharedHeadMoves(t *testing.T) {
	w := newEnv(t)
	sha := w.shop.Pull(1).HeadSHA
	w.must(w.shop.SetBranch("same", sha))
	w.must(second(w.shop.Push("lenient", githubtest.Files{"policies/policies.yaml": configMap("no", "policy")})))
	other, err := w.shop.OpenPull(githubtest.PullOptions{Head: "same", Base: "lenient"})
	w.must(err)
	w.pull()
	w.enqueue(queue.Job{Pull: other})
	w.work()
	w.want("both", w.newestCheckRun(sha), "completed failure: #1: 1 denied")
	w.must(second(w.shop.Push("change", githubtest.Files{"app/new.yaml": configMap("new", "fine")})))
	w.pull()
	w.work()
	w.want("the one that stayed", w.newestCheckRun(sha), "completed success: no findings")
	w.want("the one that moved", w.newestCheckRun(w.shop.Pull(1).HeadSHA), "completed success: no findings")
}

// TestSharedHeadOfFork checks that a pull request of a fork that is not judged does not hide the failure
// of another with its head, also if GitHub does not list that one.
func TestSharedHeadOfFork(t *testing.T) {
	w := newEnv(t)
	w.config.Forks = ForksOff
	sha := w.shop.Pull(1).HeadSHA
	w.pull()
	w.work()
	fork, err := w.shop.Fork("mallory")
	w.must(err)
	w.must(fork.SetBranch("mine", sha))
	n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "mine", From: fork})
	w.must(err)
	w.hub.Intercept(githubtest.Rule{Path: sha + "/pulls", Status: 404, Message: "Not Found", Times: 100})
	w.enqueue(queue.Job{Pull: n})
	w.work()
	w.want("check run", w.newestCheckRun(sha), "completed failure: #1: 1 denied")
}

// TestSharedHeadInVain checks that pull requests that fail, or must not be judged, do not enqueue each
// other again and again.
func TestSharedHeadInVain(t *testing.T) {
	for name, forks := range map[string]bool{"failing": false, "forks": true} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.config.Forks = ForksOff
			w.scanner.on(func(context.Context, jailed.Request) error { return death() })
			pulls, title := []int{1, w.other()}, failedTitle
			if forks {
				fork := w.fork()
				w.must(fork.SetBranch("same", w.shop.Pull(3).HeadSHA))
				n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "same", From: fork})
				w.must(err)
				pulls, title = []int{3, n}, "Pull requests from forks are not judged"
			}
			for _, n := range pulls {
				w.enqueue(queue.Job{Pull: n})
			}
			w.work()
			if got := w.newestCheckRun(w.shop.Pull(pulls[0]).HeadSHA); !strings.HasSuffix(got, title) {
				t.Errorf("check run %q", got)
			}
			if n := len(w.queue.Scans(queue.ScanFilter{})); n > 6 {
				t.Errorf("%d jobs", n)
			}
		})
	}
}

// TestSharedHeadGroup checks that a verdict on a pull request does not count for a merge group of the
// same commit.
func TestSharedHeadGroup(t *testing.T) {
	w := newEnv(t)
	g, err := w.shop.AddMergeGroup(1)
	w.must(err)
	w.enqueue(queue.Job{Kind: queue.KindGroup, Head: g.HeadSHA, Base: g.BaseSHA, Ref: g.HeadRef})
	w.work()
	w.want("group", w.newestCheckRun(g.HeadSHA), told)
	w.must(second(w.shop.Push("lenient", githubtest.Files{"policies/policies.yaml": configMap("no", "policy")})))
	w.must(w.shop.SetBranch("group", g.HeadSHA))
	n, err := w.shop.OpenPull(githubtest.PullOptions{Head: "group", Base: "lenient"})
	w.must(err)
	w.enqueue(queue.Job{Pull: n})
	w.work()
	w.want("check run", w.newestCheckRun(g.HeadSHA), "completed failure: the merge queue: 1 denied")
}

// TestCheckRunOfPage checks that a passing check run counts as the pull request's own if its details URL
// is that of a scan of the same head and branch, even if this replica does not know the scan yet.
func TestCheckRunOfPage(t *testing.T) {
	w := newEnv(t)
	job := w.pull()
	w.work()
	have := w.record(job.ID)
	worker := w.replica()
	page := worker.pageOf(job.ID)
	for name, test := range map[string]struct {
		change func(*task)
		page   string
		want   bool
	}{
		"own":                   {nil, page, false},
		"of another head":       {func(t *task) { t.record.Head = strings.Repeat("a", 40) }, page, true},
		"of another branch":     {func(t *task) { t.record.BaseRef = "other" }, page, true},
		"of another pull":       {func(t *task) { t.job.Pull = 99 }, page, true},
		"of another repository": {func(t *task) { t.job.Repository++ }, page, true},
		"of no scan":            {nil, worker.pageOf("unknown"), true},
		"not ours":              {nil, "https://elsewhere.example/scans/" + job.ID, true},
		"none":                  {nil, "", true},
	} {
		// Jobs ignore their own records, so this task does not know the scan.
		task := worker.newTask(&queue.Claim{Job: job})
		task.record.Head, task.record.BaseRef = have.Head, have.BaseRef
		if test.change != nil {
			test.change(task)
		}
		got, err := task.mayBeOfAnother(t.Context(), test.page)
		w.must(err)
		w.want(name, got, test.want)
	}
}
