package worker

import (
	"context"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

const (
	baselineFailed = "completed neutral: The scan could not be completed"
	baselineMade   = "completed success: The baseline was made"
)

// rerun requests another verdict on a commit, like "Re-run" at one of its check runs.
func (w *env) rerun(commit string) {
	w.t.Helper()
	w.enqueue(queue.Job{Kind: queue.KindResolve, Head: commit, Fresh: true, Reason: "check_run.rerequested"})
	w.work()
}

// failedBaseline makes a baseline fail, and returns its commit.
func (w *env) failedBaseline() string {
	w.t.Helper()
	w.scanner.on(func(context.Context, jailed.Request) error { return death() })
	head := w.shop.Tip("main")
	w.enqueue(queue.Job{Kind: queue.KindPush, Head: head, Ref: "refs/heads/main"})
	w.work()
	w.want("check runs", w.checks(head), []string{baselineFailed})
	w.want("name", w.hub.CheckRuns()[0].Name, "preadmit baseline")
	return head
}

// TestPushFails checks that a failed baseline has a check run that blocks nothing, and that a re-run
// updates it: with another failure, or with the success.
func TestPushFails(t *testing.T) {
	w := newEnv(t)
	head := w.failedBaseline()
	w.want("record", w.state(w.queue.Scans(queue.ScanFilter{})[0].ID), "failed failure")
	w.rerun(head)
	w.want("check runs when it fails again", w.checks(head), []string{baselineFailed, baselineFailed})
	w.scanner.on(nil)
	w.rerun(head)
	w.want("check runs when it is mended", w.checks(head), []string{baselineFailed, baselineFailed, baselineMade})
	w.want("uploads", len(w.hub.SARIFs()), 1)
	w.want("scans", w.scanner.count(), 3)
	s := w.queue.Scans(queue.ScanFilter{})[0]
	w.want("record", []any{s.Kind, s.Ref, s.Reason}, []any{queue.KindPush, "refs/heads/main", "check_run.rerequested"})
}

// TestPushMended checks that a later push job corrects the check run of a failed one for the same
// commit, although nobody requested a re-run.
func TestPushMended(t *testing.T) {
	w := newEnv(t)
	head := w.failedBaseline()
	w.scanner.on(nil)
	w.enqueue(queue.Job{Kind: queue.KindPush, Head: head, Ref: "refs/heads/main"})
	w.work()
	w.want("check runs", w.checks(head), []string{baselineMade})
}

// TestPushMoved checks that a baseline is made of the branch's current commit, and that the check run
// that was re-run names that commit.
func TestPushMoved(t *testing.T) {
	w := newEnv(t)
	head := w.failedBaseline()
	w.scanner.on(nil)
	w.must(second(w.shop.Push("main", githubtest.Files{"app/more.yaml": configMap("more", "fine")})))
	now := w.shop.Tip("main")
	w.rerun(head)
	w.want("check runs", w.checks(head), []string{baselineFailed, "completed neutral: The default branch has moved on"})
	if runs := w.hub.CheckRuns(); !strings.Contains(runs[len(runs)-1].Summary, now) {
		t.Errorf("summary %q does not name %s", runs[len(runs)-1].Summary, now)
	}
	w.want("SARIF", []any{len(w.hub.SARIFs()), w.hub.SARIFs()[0].CommitSHA}, []any{1, now})
	w.want("check runs of the present one", w.checks(now), []string{})
}

// TestRejectedBaseline checks that a baseline that code scanning rejects counts as none.
func TestRejectedBaseline(t *testing.T) {
	for name, set := range map[string]func(w *env){
		"no permission": func(w *env) {
			w.installed.SetPermissions(map[string]string{"metadata": "read", "contents": "read", "checks": "write", "pull_requests": "write"})
		},
		"not enabled": func(w *env) {
			w.hub.Intercept(githubtest.Rule{Method: "POST", Path: "/sarifs", Status: 403, Message: "Code Security must be enabled"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			head := w.failedBaseline()
			w.scanner.on(nil)
			set(w)
			w.config.App.Forget(w.installation)
			w.rerun(head)
			w.want("check runs", w.checks(head), []string{baselineFailed, "completed neutral: No baseline"})
		})
	}
}

// TestResolveTip checks that the current commit of the default branch is judged again without a record,
// and that a commit that is neither that nor recorded is not.
func TestResolveTip(t *testing.T) {
	w := newEnv(t)
	w.rerun(w.shop.Tip("main"))
	w.want("uploads", len(w.hub.SARIFs()), 1)
	w.must(second(w.shop.Push("other", githubtest.Files{"x.yaml": configMap("x", "fine")})))
	w.rerun(w.shop.Tip("other"))
	w.must(w.shop.DeleteBranch("main"))
	w.rerun(w.shop.Tip("other"))
	w.want("jobs", len(w.queue.Scans(queue.ScanFilter{})), 1)
	dead, err := w.queue.Dead(t.Context(), 10)
	w.must(err)
	w.want("dead letters", len(dead), 0)
}
