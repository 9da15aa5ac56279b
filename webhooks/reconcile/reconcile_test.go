package reconcile_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report/github"
	"github.com/preadmit/preadmit/webhooks/queue"
	"github.com/preadmit/preadmit/webhooks/reconcile"
)

// pass runs a pass that must have the outcome.
func (w *env) pass(want string) {
	w.Helper()
	if got := w.Pass(w.Context()); got != want {
		w.Errorf("the pass is %s, want %s", got, want)
	}
}

func (w *env) wantPending(want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.pending()); diff != "" {
		w.Errorf("pending scans (-want +got):\n%s", diff)
	}
}

// TestDeliveries checks that failed deliveries are requested again after a wait, which grows with each
// failure, and not after they have arrived.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	w.answer(http.StatusServiceUnavailable, false)
	r.open("one", true) // a draft: only its delivery mentions it
	w.install("octo", r)
	w.must(r.SetDraft(1, false))
	w.must(r.SetDraft(1, true))
	w.must(r.ClosePull(1)) // no pull request is open

	// Times after the last attempt, by GitHub's clock, and how many are requested: of
	// installation, ready_for_review, converted_to_draft, closed.
	passes := func(after time.Duration, want int) {
		t.Helper()
		w.clock.set(after)
		w.github.Forget()
		w.pass(reconcile.Complete)
		w.github.Settle()
		if got := w.requested(http.MethodPost, "/attempts"); got != want {
			t.Errorf("%d deliveries were requested again after %v, want %d", got, after, want)
		}
	}
	passes(50*time.Second, 0)
	passes(70*time.Second, 4)
	passes(110*time.Second, 0)
	passes(130*time.Second, 4)
	passes(230*time.Second, 0)
	w.answer(0, false)
	passes(250*time.Second, 4)
	passes(15*time.Minute, 0)
	passes(2*time.Hour, 0)
	w.wantPending("pull_request.closed apps#1") // the last of its three events
}

// TestTakenAllTheSame checks that a delivery whose response was lost is not requested again.
func TestTakenAllTheSame(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	w.install("octo", r)
	w.answer(http.StatusBadGateway, true)
	r.open("one", false)
	w.clock.set(time.Hour)
	w.pass(reconcile.Complete)
	if got := w.again(); slices.Contains(got, "pull_request") {
		t.Errorf("delivered again: %v", got)
	}
	w.wantPending("pull_request.opened apps#1")
}

// TestForgottenDelivery checks that deliveries older than three days are not requested.
func TestForgottenDelivery(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	w.answer(http.StatusServiceUnavailable, false)
	w.install("octo", r)
	for _, test := range []struct {
		after time.Duration
		want  []string
	}{{73 * time.Hour, nil}, {71 * time.Hour, []string{"installation"}}} {
		w.clock.set(test.after)
		if outcome := w.reconciler().Pass(t.Context()); outcome != reconcile.Complete {
			t.Errorf("the pass is %s", outcome)
		}
		if diff := cmp.Diff(test.want, w.again()); diff != "" {
			t.Errorf("delivered again after %v (-want +got):\n%s", test.after, diff)
		}
	}
}

// TestPulls checks that an open pull request gets a job if its head has no completed check of ours.
func TestPulls(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	_, in := w.install("octo", r)
	w.lost(func() {
		r.open("nothing", false)
		r.open("draft", true)
		w.must(r.ClosePull(r.open("closed", false)))
		r.check(in, r.open("judged", false), github.Failure)
		r.check(in, r.open("progress", false), "")
		foreign := r.open("foreign", false)
		w.github.AddCheckRun(githubtest.CheckRun{
			App: "another", Repo: "octo/apps", Name: "preadmit", HeadSHA: r.Pull(foreign).HeadSHA,
			Status: "completed", Conclusion: "success",
		})
		moved := r.open("moved", false)
		r.check(in, moved, github.Success)
		sure[string](w)(r.Push("moved", githubtest.Files{"more.yaml": "c: 1\n"}))
	})
	w.pass(reconcile.Complete)
	want := []string{"reconcile apps#1", "reconcile apps#5", "reconcile apps#6", "reconcile apps#7"}
	w.wantPending(want...)

	// A second pass finds nothing new, and does not repeat requests.
	w.github.Forget()
	w.pass(reconcile.Complete)
	w.wantPending(want...)
	if n := w.requested(http.MethodGet, "/check-runs"); n != 0 {
		t.Errorf("check runs were requested %d times", n)
	}
}

// TestRecords checks when a scan's record is sufficient to know the verdict.
func TestRecords(t *testing.T) {
	t.Parallel()
	const rests = 31 * time.Minute
	for _, test := range []struct {
		name  string
		state queue.State
		after time.Duration
		// requests is set if the check run is requested from GitHub.
		requests, enqueues bool
	}{
		{"queued", queue.Queued, 24 * time.Hour, false, false},
		{"running", queue.Running, 24 * time.Hour, false, false},
		{"completed", queue.Completed, 24 * time.Hour, false, false},
		{"failed just now", queue.Failed, 0, false, false},
		{"failed", queue.Failed, rests, true, true},
		{"cancelled just now", queue.Cancelled, 0, false, false},
		{"cancelled", queue.Cancelled, rests, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			r := w.repository("octo", "apps")
			w.install("octo", r)
			w.must(w.claim().Done(t.Context())) // the job of the installation
			r.open("one", false)
			before := w.put(test.state)
			w.clock.set(test.after)
			w.github.Forget()
			w.pass(reconcile.Complete)
			if requests := w.requested(http.MethodGet, "/check-runs") > 0; requests != test.requests {
				t.Errorf("the check run was requested from GitHub: %v", requests)
			}
			after := w.queue.Scans(queue.ScanFilter{})
			if enqueued := len(after) > before; enqueued != test.enqueues {
				t.Errorf("enqueued: %v, scans: %+v", enqueued, after)
			}
		})
	}
}

// TestFailingAgain checks that a head whose scans fail rests longer each time.
func TestFailingAgain(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	r.open("one", false)
	for _, rest := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		w.put(queue.Failed)
		w.clock.set(rest - time.Minute)
		w.pass(reconcile.Complete)
		w.wantPending()
		w.clock.set(rest + time.Minute)
		w.pass(reconcile.Complete)
		w.wantPending("reconcile apps#1")
	}
}

// TestStopped checks that a pass whose context ended is Stopped, and logs no error.
func TestStopped(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.install("octo", w.repository("octo", "apps"))
	var log bytes.Buffer
	r := reconcile.New(reconcile.Config{Queue: w.queue, App: w.us, Log: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := r.Pass(ctx); got != reconcile.Stopped || log.Len() > 0 {
		t.Errorf("the pass is %s, and logs %s", got, &log)
	}
}

// put moves the pending scan to a state, and returns the number of scans.
func (w *env) put(state queue.State) int {
	w.Helper()
	if state != queue.Queued {
		claim := w.claim()
		if state != queue.Running {
			scan := sure[queue.Scan](w)(w.queue.Scan(w.Context(), claim.Job.ID))
			scan.State, scan.Finished, scan.CheckURL = state, time.Now(), "https://github.example/check"
			w.must(w.queue.PutScan(w.Context(), scan))
			w.must(claim.Done(w.Context()))
		} else {
			w.Cleanup(func() { _ = claim.Release(context.WithoutCancel(w.Context())) })
		}
	}
	return len(w.queue.Scans(queue.ScanFilter{}))
}

// TestNotOurs checks that suspended or failing installations do not keep others from being
// checked.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	suspended, broken, fine := w.repository("suspended", "a"), w.repository("broken", "b"), w.repository("fine", "c")
	for _, r := range []*repository{suspended, broken, fine} {
		in, _ := w.install(r.Owner(), r)
		w.must(w.claim().Done(t.Context()))
		if r == suspended {
			w.must(in.Suspend(true))
		}
		w.lost(func() { r.open("one", false) })
	}
	w.github.Intercept(githubtest.Rule{Path: "/repos/broken/b/pulls", Status: http.StatusInternalServerError, Times: 100})
	w.github.Forget()
	w.pass(reconcile.Failed)
	w.wantPending("reconcile c#1")
	if n := w.requested(http.MethodGet, "/installation/repositories"); n != 2 {
		t.Errorf("the repositories of %d installations were requested", n)
	}
}

// TestLimited checks that requests are reserved for scans, and that every repository is checked in turn.
func TestLimited(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	var repositories []*repository
	for _, name := range []string{"a", "b", "c"} {
		r := w.repository("octo", name)
		r.open("one", false)
		repositories = append(repositories, r)
	}
	in, _ := w.install("octo", repositories...)
	in.SetRemaining(2000)
	for _, want := range [][]string{
		{"reconcile a#1"}, {"reconcile a#1", "reconcile b#1"}, {"reconcile a#1", "reconcile b#1", "reconcile c#1"},
	} {
		w.pass(reconcile.Limited)
		w.wantPending(want...)
	}
	in.SetRemaining(5000)
	w.pass(reconcile.Complete)
}

// TestChecks checks that a check run that was left in progress is completed, unless its commit is
// being judged.
func TestChecks(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	_, in := w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	one := r.open("one", false)
	left := w.claim()
	r.check(in, one, "") // then its process dies, and the head moves
	sure[string](w)(r.Push("one", githubtest.Files{"more.yaml": "c: 1\n"}))
	<-left.Context().Done()
	w.must(left.Done(t.Context()))
	again := w.claim()
	t.Cleanup(func() { _ = again.Release(context.WithoutCancel(t.Context())) })
	r.check(in, one, "")

	states := func() []string {
		var out []string
		for _, run := range w.github.CheckRuns() {
			out = append(out, run.Status+" "+run.Conclusion)
		}
		return out
	}
	w.pass(reconcile.Complete) // its worker may still complete it
	if diff := cmp.Diff([]string{"in_progress ", "in_progress "}, states()); diff != "" {
		t.Errorf("check runs (-want +got):\n%s", diff)
	}
	w.clock.set(3 * time.Minute)
	for range 2 {
		w.github.Forget()
		w.pass(reconcile.Complete)
		if diff := cmp.Diff([]string{"completed cancelled", "in_progress "}, states()); diff != "" {
			t.Errorf("check runs (-want +got):\n%s", diff)
		}
	}
	if n := w.requested(http.MethodGet, "/check-runs"); n != 0 {
		t.Errorf("the second pass requested check runs %d times", n)
	}
}

// TestOneReplica checks that of two replicas one runs passes, and the other takes over when it ends.
func TestOneReplica(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	fast := func() *reconcile.Reconciler {
		return reconcile.New(reconcile.Config{Queue: w.queue, App: w.us, Now: w.clock.Now, Every: 50 * time.Millisecond})
	}
	passes := func() int { return w.requested(http.MethodGet, "/app/installations") }
	first, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- fast().Run(first) }()
	eventually(t, "the first makes passes", func() bool { return passes() > 2 })
	second, stopSecond := context.WithCancel(t.Context())
	held, _, err := w.queue.Lock(t.Context(), "reconcile")
	if err == nil {
		t.Errorf("the name is not held: %v", held)
	}
	go func() { ended <- fast().Run(second) }()
	stop()
	if err := <-ended; err != context.Canceled {
		t.Errorf("ended with %v", err)
	}
	w.github.Forget()
	eventually(t, "the second makes passes", func() bool { return passes() > 2 })
	stopSecond()
	<-ended
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Errorf("not within 20 s: %s", what)
}
