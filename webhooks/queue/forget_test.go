package queue_test

import (
	"errors"
	"testing"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestForgottenStays checks that the worker of a scan of a removed repository does not restore its
// record, whatever it writes later.
func TestForgottenStays(t *testing.T) {
	t.Parallel()
	for _, state := range []queue.State{queue.Running, queue.Completed, queue.Failed} {
		t.Run(string(state), func(t *testing.T) {
			q := open(t, queue.Config{})
			a := enqueue(t, q, pull(1, 7))
			claim := next(t, q)
			s, err := q.Scan(t.Context(), a.ID)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Forget(t.Context(), 1, []int64{10}); err != nil {
				t.Fatal(err)
			}
			s.Title, s.State = "Secret plans", state
			if err := q.PutScan(t.Context(), s); !errors.Is(err, queue.ErrLost) {
				t.Errorf("a forgotten scan was stored: %v", err)
			}
			if err := claim.Done(t.Context()); !errors.Is(err, queue.ErrLost) {
				t.Error("done:", err)
			}
			wantStates(t, q, map[string]queue.State{})
			if err := q.Prune(t.Context()); err != nil {
				t.Error(err)
			}
			b := enqueue(t, q, pull(1, 7)) // the repository was added again
			done(t, next(t, q))
			wantStates(t, q, map[string]queue.State{b.ID: queue.Completed})
		})
	}
}

// TestForgottenReport checks the same for its report, also when another replica forgets.
func TestForgottenReport(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{})
	a := enqueue(t, q, pull(1, 7))
	claim := next(t, q)
	if err := q.PutReport(t.Context(), a.ID, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := q.Forget(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := q.PutReport(t.Context(), a.ID, []byte("{}")); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("the report of a forgotten scan was stored: %v", err)
	}
	if err := claim.Bury(t.Context(), errors.New("x")); !errors.Is(err, queue.ErrLost) {
		t.Error("bury:", err)
	}
	if _, err := q.Report(t.Context(), a.ID); !errors.Is(err, queue.ErrNotFound) {
		t.Error("the report:", err)
	}
	wantStates(t, q, map[string]queue.State{})
	wantStats(t, q, "0 pending, 0 running, 0 dead, 0 installations")
}

// TestForgottenBehindTheBack checks that a replica that does not know yet that a scan was forgotten
// stores neither its record nor its report.
func TestForgottenBehindTheBack(t *testing.T) {
	t.Parallel()
	c := queue.Config{URL: urls(serve(t, 1))}
	p, q := open(t, c), open(t, c)
	for i := range 20 {
		a := enqueue(t, p, pull(1, i+1))
		next(t, p)
		s, err := p.Scan(t.Context(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, func() string {
			if states(q)[a.ID] != queue.Running {
				return "the other replica does not know the scan"
			}
			return ""
		})
		if err := q.Forget(t.Context(), 1, nil); err != nil {
			t.Fatal(err)
		}
		s.Title = "Secret plans"
		if err := p.PutReport(t.Context(), a.ID, []byte("{}")); !errors.Is(err, queue.ErrNotFound) {
			t.Error("report:", err)
		}
		if err := p.PutScan(t.Context(), s); !errors.Is(err, queue.ErrLost) {
			t.Error("record:", err)
		}
		if _, err := p.Report(t.Context(), a.ID); !errors.Is(err, queue.ErrNotFound) {
			t.Error("the report is kept:", err)
		}
	}
}
