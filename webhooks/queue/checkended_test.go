package queue_test

import (
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestCheckEnded checks that CheckEnded is stored, also for the next process, until the scan's job is
// claimed again.
func TestCheckEnded(t *testing.T) {
	t.Parallel()
	c := queue.Config{Dir: t.TempDir(), Attempts: 3}
	q := open(t, c)
	a := enqueue(t, q, pull(1, 7))
	next(t, q)
	scan := func() queue.Scan {
		s, err := q.Scan(t.Context(), a.ID)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := func(what string, want bool) {
		t.Helper()
		if scan().CheckEnded != want {
			t.Errorf("%s: %v", what, scan().CheckEnded)
		}
	}
	running := scan()
	if err := q.CheckEnded(t.Context(), running); err != nil {
		t.Error(err)
	}
	want("while it runs", false)
	// The process records how it ended, and ends before it can release the job.
	failed := scan()
	failed.State, failed.Finished = queue.Failed, time.Now()
	if err := q.PutScan(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	if err := q.CheckEnded(t.Context(), running); err != nil {
		t.Error(err)
	}
	want("when it is over", true)
	failed.Why = "who recorded it knows nothing of that"
	if err := q.PutScan(t.Context(), failed); err != nil {
		t.Error(err)
	}
	shut(t, q)
	q = open(t, c)
	want("afterwards", true)
	if id := next(t, q).Job.ID; id != a.ID {
		t.Fatalf("claimed %s", id)
	}
	want("when its job is claimed again", false)
	failed = scan()
	failed.State = queue.Failed
	if err := q.PutScan(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	if err := q.CheckEnded(t.Context(), running); err != nil {
		t.Error(err)
	}
	want("by who asked before", false)
}
