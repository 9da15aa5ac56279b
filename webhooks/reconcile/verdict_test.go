package reconcile_test

import (
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
	"github.com/preadmit/preadmit/webhooks/reconcile"
)

// branch opens a pull request of an existing branch into another one.
func (r *repository) branch(head, base string) int {
	r.w.Helper()
	return sure[int](r.w)(r.OpenPull(githubtest.PullOptions{Head: head, Base: base}))
}

// TestSharedHead checks that the verdict on one pull request, which may be closed, does not count for
// another one with the same head and without a record.
func TestSharedHead(t *testing.T) {
	t.Parallel()
	for name, closed := range map[string]bool{"both open": false, "the judged one closed": true} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			r := w.repository("octo", "apps")
			_, in := w.install("octo", r)
			w.must(w.claim().Done(t.Context()))
			w.lost(func() {
				w.must(r.SetBranch("other", r.Tip("main")))
				r.check(in, r.open("one", false), github.Success)
				r.branch("one", "other")
				if closed {
					w.must(r.ClosePull(1))
				}
			})
			for range 2 { // whichever is checked
				w.Reconciler = w.reconciler()
				w.pass(reconcile.Complete)
				w.wantPending("reconcile apps#2")
			}
		})
	}
}

// TestWhatIsAVerdict checks which completed check runs of ours count as verdicts.
func TestWhatIsAVerdict(t *testing.T) {
	t.Parallel()
	for conclusion, want := range map[github.Conclusion][2]bool{ // whether a verdict is missing: without a record, and after a failure
		github.Success:        {false, true},
		github.Neutral:        {false, true},
		github.ActionRequired: {false, true},
		github.Failure:        {false, false},
		github.Cancelled:      {true, true},
	} {
		for i, failed := range []bool{false, true} {
			w := newEnv(t)
			r := w.repository("octo", "apps")
			_, in := w.install("octo", r)
			w.must(w.claim().Done(t.Context()))
			w.lost(func() { r.check(in, r.open("one", false), conclusion) })
			if failed {
				_, _, err := w.queue.Enqueue(t.Context(), w.job(r, in, 1))
				w.must(err)
				w.put(queue.Failed)
				w.clock.set(31 * time.Minute)
			}
			for range 2 { // the answer is cached for this scan
				w.pass(reconcile.Complete)
			}
			if lacks := len(w.pending()) > 0; lacks != want[i] {
				t.Errorf("%s, failed %v: enqueued %v", conclusion, failed, lacks)
			}
		}
	}
}

// job returns a job for a pull request.
func (w *env) job(r *repository, installation int64, pull int) queue.Job {
	return queue.Job{
		Kind: queue.KindPull, Installation: installation, Repository: r.ID(), Owner: r.Owner(), Repo: r.Name(),
		Pull: pull, Head: r.Pull(pull).HeadSHA, Reason: "test",
	}
}

// TestBaseChanged checks that the verdict on a head with another base branch does not count.
func TestBaseChanged(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	r.open("one", false)
	w.must(r.SetBranch("other", r.Tip("main")))
	claim := w.claim()
	scan := sure[queue.Scan](w)(w.queue.Scan(t.Context(), claim.Job.ID))
	scan.State, scan.BaseRef, scan.Finished, scan.CheckURL = queue.Completed, "main", time.Now(), "https://github.example/check"
	w.must(w.queue.PutScan(t.Context(), scan))
	w.must(claim.Done(t.Context()))
	w.clock.set(31 * time.Minute)
	w.pass(reconcile.Complete)
	w.wantPending()
	w.lost(func() { w.must(r.SetBase(1, "other")) })
	w.pass(reconcile.Complete)
	w.wantPending("reconcile apps#1")
}

// TestPermissionCame checks that a verdict without a check run, for lack of the permission, is judged
// again when the permission is granted, which another replica may have been notified of.
func TestPermissionCame(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	installed, in := w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	w.lost(func() { r.open("one", false) })
	without := map[string]string{"metadata": "read", "contents": "read", "pull_requests": "write"}
	installed.SetPermissions(without)
	w.us.Forget(in)
	_, _, err := w.queue.Enqueue(t.Context(), w.job(r, in, 1))
	w.must(err)
	w.put(queue.Completed)
	scan := w.queue.Scans(queue.ScanFilter{})[0]
	scan.CheckURL = ""
	w.must(w.queue.PutScan(t.Context(), scan))
	w.clock.set(31 * time.Minute)
	for range 2 {
		w.pass(reconcile.Complete)
		w.wantPending()
	}
	w.lost(func() { w.must(installed.AcceptPermissions()) })
	w.pass(reconcile.Complete)
	w.wantPending("reconcile apps#1")
}
