package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/webhooks/queue"
	"github.com/preadmit/preadmit/webhooks/reconcile"
)

// poison makes a rule apply for ever, with a response that is not retried.
func poison(r githubtest.Rule, path string) githubtest.Rule {
	r.Path, r.Times = path, 1000
	if r.Status >= http.StatusTooManyRequests { // a lower status with this header would be a rate limit
		r.Header = http.Header{"Retry-After": {"3600"}}
	}
	return r
}

// TestPoisonedDelivery checks that a delivery whose redelivery fails does not keep others from being
// requested, but that a rate limit does.
func TestPoisonedDelivery(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		rule  githubtest.Rule
		again int
	}{
		{"fails", githubtest.Rule{Status: http.StatusInternalServerError}, 4},
		{"refused", githubtest.Rule{Status: http.StatusUnprocessableEntity, Message: "cannot be delivered"}, 4},
		{"limited", githubtest.Rule{Status: http.StatusTooManyRequests}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			r := w.repository("octo", "apps")
			w.answer(http.StatusServiceUnavailable, false)
			w.install("octo", r)
			r.open("one", true)
			r.open("two", true)
			w.github.Settle()
			oldest := w.them.Deliveries()[0]
			w.github.Intercept(poison(test.rule, fmt.Sprintf("/app/hook/deliveries/%d/attempts", oldest.ID)))
			w.answer(0, false)
			w.clock.set(time.Hour)
			w.pass(reconcile.Failed)
			if got := w.again(); len(got) != test.again {
				t.Errorf("delivered again: %v, want %d", got, test.again)
			}
		})
	}
}

// TestDeliveriesAfterRateLimit checks that the pass after one that a rate limit ended requests what that one left, also
// if it is older than most passes look back.
func TestDeliveriesAfterRateLimit(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	w.answer(http.StatusServiceUnavailable, false)
	w.install("octo", r)
	r.open("one", true)
	w.github.Settle()
	rule := poison(githubtest.Rule{Status: http.StatusTooManyRequests}, fmt.Sprintf("/app/hook/deliveries/%d/attempts", w.them.Deliveries()[1].ID))
	rule.Times = 1
	w.github.Intercept(rule)
	w.answer(0, false)
	w.clock.set(3 * time.Hour)
	w.pass(reconcile.Failed)
	before := len(w.again())
	w.clock.set(3*time.Hour + 5*time.Minute)
	w.pass(reconcile.Complete)
	if got, all := len(w.again()), len(w.them.Deliveries()); before >= got || got < 2 {
		t.Errorf("%d of %d deliveries again, %d before: the rest waits for the next hour", got, all, before)
	}
}

// TestPoisonedPull checks that a pull request that fails does not keep others from being checked, but
// that an error which concerns all ends the pass.
func TestPoisonedPull(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		rule githubtest.Rule
		want []string
	}{
		{"fails", githubtest.Rule{Status: http.StatusInternalServerError}, []string{"reconcile a#1", "reconcile a#2", "reconcile b#1"}},
		{"missing", githubtest.Rule{Status: http.StatusNotFound}, []string{"reconcile a#1", "reconcile a#2", "reconcile b#1"}},
		{"forbidden", githubtest.Rule{Status: http.StatusForbidden}, []string{"reconcile b#1"}},
		{"limited", githubtest.Rule{Status: http.StatusTooManyRequests}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			a, b := w.repository("octo", "a"), w.repository("octo", "b")
			w.install("octo", a, b)
			w.must(w.claim().Done(t.Context()))
			w.lost(func() {
				a.open("one", false)
				a.open("two", false)
				a.open("poison", false) // the newest is examined first
				b.open("one", false)
			})
			w.github.Intercept(poison(test.rule, "/commits/"+a.Pull(3).HeadSHA+"/check-runs"))
			w.Pass(t.Context())
			w.wantPending(test.want...)
		})
	}
}

// failing is a queue that stores no job.
type failing struct {
	reconcile.Queue
	tries int
}

func (f *failing) Enqueue(ctx context.Context, j queue.Job) (queue.Job, bool, error) {
	f.tries++
	return j, false, errors.New("no server")
}

// TestStoreFails checks that a queue that fails is not used again in the pass.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repository("octo", "apps")
	w.install("octo", r)
	w.must(w.claim().Done(t.Context()))
	w.lost(func() { r.open("one", false); r.open("two", false) })
	store := &failing{Queue: w.queue}
	w.Reconciler = reconcile.New(reconcile.Config{Queue: store, App: w.us, Now: w.clock.Now})
	w.pass(reconcile.Failed)
	if store.tries != 1 {
		t.Errorf("the queue was called %d times", store.tries)
	}
}
