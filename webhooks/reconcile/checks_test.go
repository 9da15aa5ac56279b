package reconcile_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
	"github.com/preadmit/preadmit/webhooks/reconcile"
)

// leave ends scans of a repository without a verdict, each of a commit of its own, and leaves their
// check runs in progress.
func (w *env) leave(r *repository, installation int64, scans int) {
	w.Helper()
	w.lost(func() {
		for i := range scans {
			n := r.open(fmt.Sprintf("left-%d", i), false)
			_, _, err := w.queue.Enqueue(w.Context(), w.job(r, installation, n))
			w.must(err)
			w.put(queue.Cancelled)
			r.check(installation, n, "")
			w.must(r.ClosePull(n))
		}
	})
}

// finished counts completed check runs.
func (w *env) finished() int {
	n := 0
	for _, run := range w.github.CheckRuns() {
		if run.Status == "completed" {
			n++
		}
	}
	return n
}

// TestChecksOnce checks that GitHub's answer about an ended scan is stored for the next process.
func TestChecksOnce(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	_, in := w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	w.leave(r, in, 2)
	w.clock.set(3 * time.Minute)
	w.pass(reconcile.Complete)
	if n := w.finished(); n != 2 {
		t.Errorf("%d check runs were completed", n)
	}
	w.github.Forget()
	w.Reconciler = w.reconciler()
	w.pass(reconcile.Complete)
	if n := w.requested(http.MethodGet, "/check-runs"); n != 0 {
		t.Errorf("the next process requested check runs %d times", n)
	}
}

// TestChecksLimited checks that while more than half of an installation's requests are used, one ended
// scan is examined in each pass, however often the service restarts, and that other installations
// are not affected.
func TestChecksLimited(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	busy, idle := w.repository("busy", "a"), w.repository("idle", "b")
	limited, inBusy := w.install("busy", busy)
	_, inIdle := w.install("idle", idle)
	for range 2 {
		w.must(w.claim().Done(t.Context()))
	}
	w.leave(idle, inIdle, 2) // the others are newer, and examined first
	w.leave(busy, inBusy, 4)
	limited.SetRemaining(2000)
	w.clock.set(3 * time.Minute)
	for i := range 3 {
		w.Reconciler = w.reconciler()
		w.pass(reconcile.Limited)
		if n, want := w.finished(), 2+i+1; n != want {
			t.Errorf("%d check runs are completed after %d passes, want %d", n, i+1, want)
		}
	}
	limited.SetRemaining(5000)
	w.pass(reconcile.Complete)
	if n := w.finished(); n != 6 {
		t.Errorf("%d check runs are completed in the end", n)
	}
}

// TestVerdictsLimited checks the same within one repository with many pull requests.
func TestVerdictsLimited(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	in, _ := w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	w.lost(func() {
		for i := range 4 {
			r.open(fmt.Sprint("pull-", i), false)
		}
	})
	in.SetRemaining(2000)
	for want := 1; want < 4; want++ {
		w.pass(reconcile.Limited)
		if n := len(w.pending()); n != want {
			t.Errorf("%d are enqueued, want %d", n, want)
		}
	}
	in.SetRemaining(5000)
	w.pass(reconcile.Complete)
	if n := len(w.pending()); n != 4 {
		t.Errorf("%d are enqueued in the end", n)
	}
}

// TestChecksRefused checks that requests for an installation without the permission are not repeated.
func TestChecksRefused(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	limits, in := w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	w.leave(r, in, 2)
	limits.SetPermissions(map[string]string{"metadata": "read", "contents": "read", "pull_requests": "write"})
	limits.RevokeTokens()
	w.clock.set(3 * time.Minute)
	for i, want := range []bool{true, false} {
		w.github.Forget()
		w.pass(reconcile.Complete)
		if requested := w.requested(http.MethodGet, "/check-runs") > 0; requested != want {
			t.Errorf("pass %d requested check runs: %v", i+1, requested)
		}
	}
	if n := w.finished(); n != 0 {
		t.Errorf("%d check runs are completed", n)
	}
}

// TestChecksBesideBaseline checks that a push of the same commit, which has no such check run, does not
// count as a later scan of a pull request's.
func TestChecksBesideBaseline(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	_, in := w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	w.leave(r, in, 1)
	push := w.job(r, in, 1)
	push.Kind, push.Pull, push.Ref = queue.KindPush, 0, "refs/heads/main"
	_, _, err := w.queue.Enqueue(t.Context(), push)
	w.must(err)
	w.put(queue.Completed)
	w.clock.set(3 * time.Minute)
	w.pass(reconcile.Complete)
	if n := w.finished(); n != 1 {
		t.Errorf("%d check runs are completed", n)
	}
}

// TestBacklog checks that when there are more failed deliveries than a pass requests, the next pass
// continues, without waiting for the hourly look at all of them.
func TestBacklog(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	w.answer(http.StatusServiceUnavailable, false)
	w.install("octo", r)
	r.open("one", true)
	for i := range 110 {
		w.must(r.SetDraft(1, i%2 == 1))
	}
	w.github.Settle()
	failed := len(w.them.Deliveries())
	if failed <= 100 || failed > 200 {
		t.Fatalf("%d deliveries failed: that is not what two passes are for", failed)
	}
	w.answer(0, false)
	w.clock.set(3 * time.Hour)
	w.pass(reconcile.Limited)
	w.github.Settle()
	w.clock.set(3*time.Hour + 5*time.Minute)
	w.pass(reconcile.Complete)
	if n := len(w.again()); n != failed {
		t.Errorf("%d deliveries were requested again, want %d", n, failed)
	}
}
