package queue

import (
	"context"
	"errors"
	"testing"
)

// TestCutOffTooLate checks that a replica that received no heartbeat for a lease from a holder that is
// alive, or that has ended its job, takes nothing from it and does not change its scan.
func TestCutOffTooLate(t *testing.T) {
	t.Parallel()
	q := openEmbedded(t)
	j := enqueuePull(t, q)
	c, err := q.Next(t.Context())
	fatal(t, err)
	before := &pendingJob{entry: q.jobs.at(j.Subject())}
	_, _, err = q.jobs.change(t.Context(), j.Subject(), "", func(now *record) (*record, error) {
		return now.with(func(r *record) { r.Holder = r.Holder.beat() }), nil
	})
	fatal(t, err)
	if err := q.cutOff(t.Context(), before); !errors.Is(err, errTaken) {
		t.Error("a holder that lives:", err)
	}
	wantState(t, q, j, Running)

	after := &pendingJob{entry: q.jobs.at(j.Subject())}
	fatal(t, c.Done(t.Context()))
	if err := q.cutOff(t.Context(), after); !errors.Is(err, errTaken) {
		t.Error("a holder that has ended its job:", err)
	}
	wantState(t, q, j, Completed)
}

// TestBeginTooLate checks that a claim that took longer than the lease before its scan was recorded does
// not replace the later claim.
func TestBeginTooLate(t *testing.T) {
	t.Parallel()
	q := openEmbedded(t)
	j := enqueuePull(t, q)
	first, err := q.Next(t.Context())
	fatal(t, err)
	fatal(t, q.cutOff(t.Context(), &pendingJob{entry: q.jobs.at(j.Subject())}))
	wantState(t, q, j, Queued)
	second, err := q.Next(t.Context())
	fatal(t, err)
	if second.Attempt != 2 {
		t.Errorf("attempt %d, want 2", second.Attempt)
	}
	if err := q.beginScan(t.Context(), first); !errors.Is(err, ErrLost) {
		t.Error("begin:", err)
	}
	wantState(t, q, j, Running)
	fatal(t, second.Done(t.Context()))
	if err := q.beginScan(t.Context(), first); !errors.Is(err, ErrLost) {
		t.Error("begin after the end:", err)
	}
	wantState(t, q, j, Completed)
	if err := first.Done(t.Context()); !errors.Is(err, ErrLost) {
		t.Error("done:", err)
	}
}

func openEmbedded(t *testing.T) *Queue {
	t.Helper()
	q, err := Open(t.Context(), Config{Dir: t.TempDir()})
	fatal(t, err)
	t.Cleanup(func() { fatal(t, q.Close(context.Background())) })
	return q
}

func enqueuePull(t *testing.T, q *Queue) Job {
	t.Helper()
	j, _, err := q.Enqueue(t.Context(), Job{Kind: KindPull, Installation: 1, Repository: 10, Owner: "o", Repo: "r", Pull: 7})
	fatal(t, err)
	return j
}

func wantState(t *testing.T, q *Queue, j Job, want State) {
	t.Helper()
	s, err := q.Scan(t.Context(), j.ID)
	if err != nil || s.State != want {
		t.Errorf("the scan is %s, want %s; %v", s.State, want, err)
	}
}
