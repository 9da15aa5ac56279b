package reconcile

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestMayBeLeft checks that only the newest scan of a commit is read from the queue, however many there
// are, since the queue is locked meanwhile.
func TestMayBeLeft(t *testing.T) {
	q, err := queue.Open(t.Context(), queue.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close(context.Background()) })
	now := time.Now()
	p := &pass{Reconciler: New(Config{Queue: q, Now: func() time.Time { return now.Add(time.Hour) }})}
	n := 0
	put := func(kind queue.Kind, state queue.State) queue.Scan {
		t.Helper()
		n++
		s := queue.Scan{
			ID: fmt.Sprint("scan-", n), Kind: kind, Installation: 1, Repository: 10, Owner: "octo", Repo: "shop",
			Head: strings.Repeat("a", 40), State: state, Created: now.Add(time.Duration(n) * time.Second), Started: now, Finished: now,
		}
		if err := q.PutScan(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := put(queue.KindPull, queue.Superseded)
	few := testing.AllocsPerRun(1000, func() { p.mayBeLeft(s) })
	for range 200 {
		put(queue.KindPull, queue.Cancelled)
	}
	if many := testing.AllocsPerRun(1000, func() { p.mayBeLeft(s) }); many > few {
		t.Errorf("%g allocations with 200 scans of the commit, %g with one", many, few)
	}
	for _, test := range []struct {
		kind  queue.Kind
		state queue.State
		want  bool
	}{
		{queue.KindPull, queue.Failed, true},
		{queue.KindGroup, queue.Completed, false},
		{queue.KindPush, queue.Failed, false}, // which does not affect earlier ones
		{queue.KindGroup, queue.Cancelled, true},
		{queue.KindPush, queue.Completed, true},
		{queue.KindPull, queue.Queued, false},
	} {
		put(test.kind, test.state)
		if got := p.mayBeLeft(s); got != test.want {
			t.Errorf("with %s %s as the last: %v, want %v", test.kind, test.state, got, test.want)
		}
	}
}
