package worker

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/jailed"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// halfAnHour is a rate limit of GitHub with a time at which it ends.
func halfAnHour(r githubtest.Rule) githubtest.Rule {
	r.Status, r.Message, r.Header = http.StatusForbidden, "API rate limit exceeded", http.Header{"Retry-After": {"1800"}}
	return r
}

// later moves the queue's clock.
func (w *env) later(d time.Duration) {
	w.t.Helper()
	w.must(w.queue.Close(context.Background()))
	w.queueConf.Now = func() time.Time { return time.Now().Add(d) }
	w.openQueue()
}

// put runs workers until the job waits again, or has ended.
func (w *env) put(job queue.Job) {
	w.t.Helper()
	stop := w.start()
	w.until("the job is put off", func() bool { s := w.record(job.ID); return s.Why != "" && s.State != queue.Running })
	stop()
}

// TestPostponed checks that a job that is stopped by GitHub's rate limit waits until it ends, and that
// the attempt never counts.
func TestPostponed(t *testing.T) {
	w := newEnv(t)
	job := w.pull()
	w.hub.Intercept(halfAnHour(githubtest.Rule{Path: "/pulls/1"}))
	w.put(job)
	w.want("record", w.state(job.ID), "queued ")
	if why := w.record(job.ID).Why; !strings.Contains(why, "limit") {
		t.Errorf("why %q", why)
	}
	w.later(29 * time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if claim, err := w.queue.Next(ctx); err == nil {
		t.Fatalf("claimed before the limit ends: %+v", claim.Job)
	}
	w.later(31 * time.Minute) // by the queue's clock; the rate limits are over by then
	w.hub.Intercept(halfAnHour(githubtest.Rule{Path: "/pulls/1", Times: w.queueConf.Attempts + 2}))
	w.want("check runs before", len(w.hub.CheckRuns()), 0)
	w.work()
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{told})
	w.want("record", []any{w.state(job.ID), w.record(job.ID).Attempt}, []any{"completed failure", 1})
	dead, err := w.queue.Dead(t.Context(), 10)
	w.must(err)
	w.want("dead letters", len(dead), 0)
}

// TestFailurePostponed checks that a failure that cannot be reported because of a rate limit is reported
// by a later attempt.
func TestFailurePostponed(t *testing.T) {
	w := newEnv(t)
	w.scanner.on(func(context.Context, jailed.Request) error {
		w.hub.Intercept(halfAnHour(githubtest.Rule{Method: http.MethodPatch}))
		return death()
	})
	job := w.pull()
	w.put(job)
	w.want("record", w.state(job.ID), "queued ")
	w.want("meanwhile", w.checks(w.shop.Pull(1).HeadSHA), []string{"in_progress: Judging"})
	w.scanner.on(func(context.Context, jailed.Request) error { return death() })
	w.later(31 * time.Minute)
	w.work()
	w.want("check runs", w.checks(w.shop.Pull(1).HeadSHA), []string{"completed failure: " + failedTitle})
	w.want("record", []any{w.state(job.ID), w.record(job.ID).Attempt}, []any{"failed failure", 1})
}
