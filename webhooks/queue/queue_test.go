package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// open opens an embedded queue that is closed at the end of the test.
func open(t testing.TB, c queue.Config) *queue.Queue {
	t.Helper()
	if c.Dir == "" && c.URL == "" {
		c.Dir = t.TempDir()
	}
	if c.Log == nil && os.Getenv("QUEUE_LOG") != "" {
		c.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	q, err := queue.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, q) })
	return q
}

func shut(t testing.TB, q *queue.Queue) {
	t.Helper()
	if err := q.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// pull returns a job for a pull request of installation i, repository 10*i.
func pull(i int64, number int) queue.Job {
	return queue.Job{Kind: queue.KindPull, Installation: i, Repository: 10 * i, Owner: "o", Repo: "r", Pull: number, Reason: "test"}
}

func enqueue(t testing.TB, q *queue.Queue, j queue.Job) queue.Job {
	t.Helper()
	stored, fresh, err := q.Enqueue(t.Context(), j)
	if err != nil || !fresh {
		t.Fatalf("enqueue %s: fresh %v, %v", j.Subject(), fresh, err)
	}
	return stored
}

// next claims a job.
func next(t testing.TB, q *queue.Queue) *queue.Claim {
	t.Helper()
	c, err := q.Next(within(t, 60*time.Second))
	if err != nil {
		t.Fatal("next:", err)
	}
	return c
}

// none checks that no job can be claimed for a while.
func none(t testing.TB, q *queue.Queue, d time.Duration) {
	t.Helper()
	if c, err := q.Next(within(t, d)); err == nil {
		t.Fatalf("got job %s, want none", c.Job.Subject())
	} else if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func done(t testing.TB, c *queue.Claim) {
	t.Helper()
	if err := c.Done(t.Context()); err != nil {
		t.Fatal("done:", err)
	}
}

// states returns the states of all scans by id.
func states(q *queue.Queue) map[string]queue.State {
	states := map[string]queue.State{}
	for _, s := range q.Scans(queue.ScanFilter{}) {
		states[s.ID] = s.State
	}
	return states
}

func wantStates(t testing.TB, q *queue.Queue, want map[string]queue.State) {
	t.Helper()
	if diff := cmp.Diff(want, states(q)); diff != "" {
		t.Errorf("states of scans (-want +got):\n%s", diff)
	}
}

// wantStats waits until the queue has the wanted Stats.
func wantStats(t testing.TB, q *queue.Queue, want string) {
	t.Helper()
	eventually(t, func() string {
		s, err := q.Stats(t.Context())
		got := fmt.Sprintf("%d pending, %d running, %d dead, %d installations", s.Pending, s.Running, s.Dead, s.Installations)
		switch {
		case err != nil:
			return err.Error()
		case got != want:
			return fmt.Sprintf("stats: %s; want %s", got, want)
		case s.Oldest.IsZero() != (s.Pending == 0):
			return fmt.Sprintf("oldest is %s with %d pending", s.Oldest, s.Pending)
		}
		return ""
	})
}

// TestJob follows a job from its delivery to its end, with a restart.
func TestJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, queue.Config{Dir: dir})
	j := pull(1, 7)
	j.Delivery = "5ad2c8a0-1b6f-11ef-9d4e-0242ac120002"
	a := enqueue(t, q, j)
	wantStates(t, q, map[string]queue.State{a.ID: queue.Queued})
	wantStats(t, q, "1 pending, 0 running, 0 dead, 1 installations")
	shut(t, q)

	q = open(t, queue.Config{Dir: dir})
	wantStates(t, q, map[string]queue.State{a.ID: queue.Queued})
	c := next(t, q)
	if diff := cmp.Diff(a, c.Job); diff != "" || c.Attempt != 1 || c.Exhausted() {
		t.Errorf("attempt %d, exhausted %v, (-stored +claimed):\n%s", c.Attempt, c.Exhausted(), diff)
	}
	wantStates(t, q, map[string]queue.State{a.ID: queue.Running})
	wantStats(t, q, "0 pending, 1 running, 0 dead, 1 installations")
	none(t, q, 50*time.Millisecond)
	done(t, c)
	if c.Context().Err() == nil {
		t.Error("the claim's context outlives the claim")
	}
	if err := c.Done(t.Context()); err == nil || !strings.Contains(err.Error(), "ended twice") {
		t.Errorf("second Done: %v", err)
	}
	wantStates(t, q, map[string]queue.State{a.ID: queue.Completed})
	wantStats(t, q, "0 pending, 0 running, 0 dead, 0 installations")
	none(t, q, 50*time.Millisecond)

	b := enqueue(t, q, pull(1, 7))
	done(t, next(t, q))
	wantStates(t, q, map[string]queue.State{a.ID: queue.Completed, b.ID: queue.Completed})
	if err := q.Ready(t.Context()); err != nil {
		t.Error("not ready:", err)
	}
}
