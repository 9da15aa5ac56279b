package worker

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestGroup checks that a merge group has a check run on its own commit, and no other output.
func TestGroup(t *testing.T) {
	w := newEnv(t)
	g, err := w.shop.AddMergeGroup(1)
	w.must(err)
	group := queue.Job{Kind: queue.KindGroup, Head: g.HeadSHA, Base: g.BaseSHA, Ref: g.HeadRef}
	job := w.enqueue(group)
	w.work()
	w.want("check runs", w.checks(g.HeadSHA), []string{told})
	w.want("annotations", len(w.hub.CheckRuns()[0].Annotations), 1)
	w.want("others", []int{len(w.hub.CheckRuns()), len(w.hub.SARIFs()), len(w.hub.Comments())}, []int{1, 0, 0})
	w.want("record", w.state(job.ID), "completed failure")

	// A second job: nothing to do. A third, which is fresh: another verdict.
	w.enqueue(group)
	w.work()
	w.want("scans", w.scanner.count(), 1)
	w.enqueue(queue.Job{Kind: queue.KindResolve, Head: g.HeadSHA, Reason: "check_run.rerequested"})
	w.work()
	w.want("scans on demand", w.scanner.count(), 2)
	w.want("check runs", w.checks(g.HeadSHA), []string{told, told})
}

// TestGroupDestroyed checks that a destroyed group has no check run in progress.
func TestGroupDestroyed(t *testing.T) {
	w := newEnv(t)
	g, err := w.shop.AddMergeGroup(1)
	w.must(err)
	group := queue.Job{Kind: queue.KindGroup, Head: g.HeadSHA, Base: g.BaseSHA, Ref: g.HeadRef}
	entered, release := w.scanner.hold()
	stop := w.start()
	first := w.enqueue(group)
	<-entered
	w.must(w.shop.DestroyMergeGroup(g, "dequeued"))
	group.Cancel = true
	next := w.enqueue(group)
	w.idle()
	release()
	stop()
	w.want("check runs", w.checks(g.HeadSHA), []string{"completed cancelled: Cancelled"})
	w.want("records", []string{w.state(first.ID), w.state(next.ID)}, []string{"superseded ", "cancelled cancelled"})
}

// TestPush checks that all findings of the default branch are uploaded to code scanning only.
func TestPush(t *testing.T) {
	w := newEnv(t)
	head := w.shop.Tip("main")
	push := queue.Job{Kind: queue.KindPush, Head: head, Ref: "refs/heads/main"}
	job := w.enqueue(push)
	w.work()
	sarif := w.hub.SARIFs()[0]
	w.want("SARIF", []any{sarif.Ref, sarif.CommitSHA, strings.Count(string(sarif.Log), `"app/old.yaml"`) > 0}, []any{"refs/heads/main", head, true})
	w.want("others", []int{len(w.hub.CheckRuns()), len(w.hub.Comments())}, []int{0, 0})
	w.want("record", []any{w.state(job.ID), w.record(job.ID).Judged, w.record(job.ID).HasReport}, []any{"completed failure", head, true})
	w.enqueue(push)
	w.work()
	w.want("scans", w.scanner.count(), 1)
}

// TestPushReordered checks that a job of an older push, such as a redelivered one, judges the branch's
// current commit, also when it replaces the newer job.
func TestPushReordered(t *testing.T) {
	w := newEnv(t)
	before := w.shop.Tip("main")
	w.must(second(w.shop.Push("main", githubtest.Files{"app/more.yaml": configMap("more", "fine")})))
	now := w.shop.Tip("main")
	push := func(head string, fresh bool) string {
		return w.enqueue(queue.Job{Kind: queue.KindPush, Head: head, Ref: "refs/heads/main", Fresh: fresh}).ID
	}
	ended := func(id string) []any {
		s := w.record(id)
		return []any{w.state(id), s.Head == now, s.Judged == now, strings.Contains(s.Why, "judged already")}
	}
	push(now, false)
	w.work()
	late := push(before, false)
	w.work()
	w.want("an older push afterwards", ended(late), []any{"completed failure", true, true, true})
	again := push(before, true) // "Scan again" at the page of an older scan
	w.work()
	w.want("an older scan once more", ended(again), []any{"completed failure", true, true, false})
	newer := push(now, true)
	older := push(before, false)
	w.work()
	w.want("a newer push", w.state(newer), "superseded ")
	w.want("an older push in its place", ended(older), []any{"completed failure", true, true, false})
	for _, s := range w.hub.SARIFs() {
		w.want("SARIF", []string{s.Ref, s.CommitSHA}, []string{"refs/heads/main", now})
	}
	w.want("uploads", len(w.hub.SARIFs()), 3)
}

// TestPushRenamed checks that a late event of a push to a former default branch causes a baseline of the
// current one, also when its job replaces a job of that one, and for a commit that was judged as the
// other branch.
func TestPushRenamed(t *testing.T) {
	for name, gone := range map[string]bool{"the old branch is gone": true, "the old branch is there": false} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			head := w.shop.Tip("main")
			push := func(head, ref string) queue.Job {
				return w.enqueue(queue.Job{Kind: queue.KindPush, Head: head, Ref: ref})
			}
			push(head, "refs/heads/main")
			w.work()
			w.must(w.shop.SetBranch("trunk", head))
			w.shop.SetDefaultBranch("trunk")
			if gone {
				w.must(w.shop.DeleteBranch("main"))
			}
			waiting := push(head, "refs/heads/trunk")
			late := push(head, "refs/heads/main")
			w.work()
			w.want("the waiting one", w.state(waiting.ID), "superseded ")
			s := w.record(late.ID)
			w.want("the late one", []any{w.state(late.ID), s.Ref, s.Judged == head, s.Why}, []any{"completed failure", "refs/heads/trunk", true, ""})
			var uploads []string
			for _, s := range w.hub.SARIFs() {
				uploads = append(uploads, s.Ref)
			}
			w.want("SARIF", uploads, []string{"refs/heads/main", "refs/heads/trunk"})
		})
	}
}

// TestPushGone checks that a branch that no longer exists is not judged.
func TestPushGone(t *testing.T) {
	w := newEnv(t)
	head := w.shop.Tip("main")
	w.must(w.shop.DeleteBranch("main"))
	job := w.enqueue(queue.Job{Kind: queue.KindPush, Head: head, Ref: "refs/heads/main"})
	w.work()
	w.want("record", w.state(job.ID), "cancelled cancelled")
	if why := w.record(job.ID).Why; !strings.Contains(why, "refs/heads/main") {
		t.Errorf("why %q does not name the branch", why)
	}
	w.want("others", []int{w.scanner.count(), len(w.hub.SARIFs()), len(w.hub.CheckRuns())}, []int{0, 0, 0})
	dead, err := w.queue.Dead(t.Context(), 10)
	w.must(err)
	w.want("dead letters", len(dead), 0)
}

// TestPushWithoutCodeScanning checks that the record notes that code scanning rejects the upload.
func TestPushWithoutCodeScanning(t *testing.T) {
	for name, test := range map[string]struct {
		set   func(w *env)
		why   string
		scans int
	}{
		"no permission": {func(w *env) {
			w.installed.SetPermissions(map[string]string{"metadata": "read", "contents": "read", "checks": "write", "pull_requests": "write"})
		}, "does not grant security_events: write", 0},
		"not enabled": {func(w *env) {
			w.hub.Intercept(githubtest.Rule{Method: "POST", Path: "/sarifs", Status: 403, Message: "Code Security must be enabled"})
		}, "No SARIF was uploaded", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			test.set(w)
			job := w.enqueue(queue.Job{Kind: queue.KindPush, Head: w.shop.Tip("main"), Ref: "refs/heads/main"})
			w.work()
			w.want("state", w.record(job.ID).State, queue.Completed)
			if why := w.record(job.ID).Why; !strings.Contains(why, test.why) {
				t.Errorf("why %q, want %q", why, test.why)
			}
			w.want("scans", w.scanner.count(), test.scans)
			w.want("check runs", len(w.hub.CheckRuns()), 0)
		})
	}
}

// TestResolve checks that the pull request of a commit is found, also one of a fork, which GitHub does
// not list.
func TestResolve(t *testing.T) {
	for name, test := range map[string]struct {
		pull   int
		judged bool // before
		hidden bool // GitHub lists no pull request for the commit
	}{
		"judged before": {pull: 1, judged: true},
		"never judged":  {pull: 1},
		"of a fork":     {pull: 2, hidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.fork()
			head := w.shop.Pull(test.pull).HeadSHA
			if test.judged {
				w.pull()
				w.work()
			}
			if test.hidden {
				w.hub.Intercept(githubtest.Rule{Path: head + "/pulls", Status: http.StatusNotFound, Message: "Not Found"})
			}
			w.enqueue(queue.Job{Kind: queue.KindResolve, Head: head, Reason: "check_suite.rerequested"})
			w.work()
			w.want("check runs", w.checks(head), map[bool][]string{false: {told}, true: {told, told}}[test.judged])
		})
	}
}

// TestInstallation checks that the open pull requests of added repositories are enqueued.
func TestInstallation(t *testing.T) {
	w := newEnv(t)
	w.must(second(w.shop.Push("draft", githubtest.Files{"app/draft.yaml": configMap("draft", "fine")})))
	w.must(second(w.shop.OpenPull(githubtest.PullOptions{Head: "draft", Draft: true})))
	other, err := w.hub.AddRepository(githubtest.RepositoryOptions{Owner: "octo", Name: "other", Files: githubtest.Files{"a.yaml": configMap("a", "fine")}})
	w.must(err)
	w.must(second(other.Push("change", githubtest.Files{"b.yaml": configMap("b", "fine")})))
	w.must(second(other.OpenPull(githubtest.PullOptions{Head: "change"})))
	for _, test := range []struct {
		repositories []int64
		want         []string
	}{{nil, []string{"other 1", "shop 1"}}, {[]int64{other.ID()}, []string{"other 1"}}} {
		before := len(w.queue.Scans(queue.ScanFilter{}))
		w.must(second(second3(w.queue.Enqueue(t.Context(), queue.Job{
			Kind: queue.KindInstallation, Installation: w.installation, Repositories: test.repositories, Reason: "installation.created",
		}))))
		w.work()
		all := w.queue.Scans(queue.ScanFilter{})
		var got []string
		for _, s := range all[:len(all)-before] {
			got = append(got, fmt.Sprintf("%s %d", s.Repo, s.Pull))
		}
		slices.Sort(got)
		w.want("pull requests", got, test.want)
	}
}

func second3[A, B any](a A, _ B, err error) (A, error) { return a, err }

// TestForget checks that the data of removed repositories is removed, as GitHub lists them at that time:
// a delivery may be late, after they were added again.
func TestForget(t *testing.T) {
	w := newEnv(t)
	w.pull()
	w.work()
	forget := func(repositories ...int64) {
		t.Helper()
		w.must(second(second3(w.queue.Enqueue(t.Context(), queue.Job{Kind: queue.KindForget, Installation: w.installation, Repositories: repositories}))))
		w.work()
	}
	forget()
	forget(w.shop.ID())
	w.want("records of what is there", len(w.queue.Scans(queue.ScanFilter{})), 1)
	w.must(w.installed.Suspend(true))
	forget()
	w.want("records of what is suspended", len(w.queue.Scans(queue.ScanFilter{})), 1)
	w.must(w.installed.Suspend(false))
	w.shop.Delete()
	forget(w.shop.ID())
	w.want("records of a repository that went", len(w.queue.Scans(queue.ScanFilter{})), 0)
}
