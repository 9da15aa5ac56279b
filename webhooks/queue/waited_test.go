package queue_test

import (
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/preadmit/preadmit/webhooks/metrics"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// waited returns the number of waits in a registry, and their sum in seconds.
func waited(t *testing.T, registry *prometheus.Registry) (count uint64, seconds float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "preadmit_queue_wait_seconds" {
			h := f.GetMetric()[0].GetHistogram()
			return h.GetSampleCount(), h.GetSampleSum()
		}
	}
	return 0, 0
}

// TestWaited checks that the waiting time of a job is measured once, when it is first handed out, in
// whichever way it is returned, and by whichever replica it is claimed then.
func TestWaited(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(*queue.Claim) error{
		"postponed": func(c *queue.Claim) error { return c.Postpone(t.Context(), time.Time{}, errors.New("late")) },
		"released":  func(c *queue.Claim) error { return c.Release(t.Context()) },
		"retried":   func(c *queue.Claim) error { _, err := c.Retry(t.Context(), errors.New("failed")); return err },
	} {
		t.Run(name, func(t *testing.T) {
			registry, ahead := prometheus.NewRegistry(), time.Duration(0)
			c := queue.Config{Dir: t.TempDir(), Backoff: []time.Duration{time.Millisecond}, Metrics: metrics.New(registry).Queue}
			c.Now = func() time.Time { return time.Now().Add(ahead) }
			q := open(t, c)
			want := func(what string, count uint64, least, most float64) {
				t.Helper()
				if n, s := waited(t, registry); n != count || s < least || s > most {
					t.Errorf("%s: %d waits of %.1f s, want %d of %g to %g s", what, n, s, count, least, most)
				}
			}
			enqueue(t, q, pull(1, 7))
			for i := range 3 {
				if err := back(next(t, q)); err != nil {
					t.Fatal(err)
				}
				shut(t, q)
				ahead += time.Hour
				q = open(t, c)
				want("claim "+string(rune('1'+i)), 1, 0, 60)
			}
			enqueue(t, q, pull(1, 7)) // replaces that one
			shut(t, q)
			ahead += 10 * time.Minute
			q = open(t, c)
			done(t, next(t, q))
			want("another job", 2, 600, 660)
		})
	}
}
