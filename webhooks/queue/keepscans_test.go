package queue_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// end ends the scans of n pull requests, and returns their ids, the oldest first.
func end(t testing.TB, q *queue.Queue, first, n int) []string {
	t.Helper()
	var ids []string
	for i := range n {
		ids = append(ids, enqueue(t, q, pull(1, first+i)).ID)
		done(t, next(t, q))
	}
	return ids
}

// kept returns what is wrong unless exactly these scans exist.
func kept(q *queue.Queue, want ...string) string {
	got := states(q)
	for _, id := range want {
		if _, is := got[id]; !is {
			return fmt.Sprintf("scan %s is gone", id)
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d scans, want %d", len(got), len(want))
	}
	return ""
}

// TestKeepScans checks that only KeepScans ended scans stay, without a call of Prune, and that the
// reports of the others are removed. Scans that have not ended stay.
func TestKeepScans(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{KeepScans: 3, PerInstallation: 1})
	waiting := []string{enqueue(t, q, pull(2, 1)).ID, enqueue(t, q, pull(2, 2)).ID}
	running := next(t, q)
	t.Cleanup(func() { _ = running.Release(t.Context()) })
	first := enqueue(t, q, pull(1, 1)).ID
	c := next(t, q)
	if err := q.PutReport(t.Context(), first, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	done(t, c)
	ended := append([]string{first}, end(t, q, 2, 6)...)
	eventually(t, func() string { return kept(q, append(waiting, ended[4:]...)...) })
	if _, err := q.Report(t.Context(), first); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("the report of a scan that was dropped: %v", err)
	}
}

// TestKeepFewerScans checks that Prune is exact, unlike pruneWhenFull, and that a smaller limit applies
// after a restart.
func TestKeepFewerScans(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, queue.Config{Dir: dir, KeepScans: 40})
	const unended = "its-job-is-gone-but-not-for-long"
	if err := q.PutScan(t.Context(), queue.Scan{ID: unended, Installation: 1, Repository: 1, State: queue.Running}); err != nil {
		t.Fatal(err)
	}
	ended := end(t, q, 1, 42)
	time.Sleep(100 * time.Millisecond)
	if wrong := kept(q, append(ended, unended)...); wrong != "" {
		t.Error("within the room:", wrong)
	}
	if err := q.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if wrong := kept(q, append(ended[2:], unended)...); wrong != "" {
		t.Error("after Prune:", wrong)
	}
	shut(t, q)
	q = open(t, queue.Config{Dir: dir, KeepScans: 5})
	eventually(t, func() string { return kept(q, append(ended[37:], unended)...) })
}

// TestReplicasKeepScans checks that one of several replicas does it, and all see it.
func TestReplicasKeepScans(t *testing.T) {
	t.Parallel()
	c := queue.Config{URL: urls(serve(t, 1)), KeepScans: 5}
	one, two := open(t, c), open(t, c)
	ended := append(end(t, one, 1, 8), end(t, two, 9, 8)...)
	for _, q := range []*queue.Queue{one, two} {
		eventually(t, func() string { return kept(q, ended[11:]...) })
	}
}

// TestKeepDeliveries checks that the oldest deliveries are forgotten when there are too many.
func TestKeepDeliveries(t *testing.T) {
	t.Parallel()
	q := open(t, queue.Config{KeepDeliveries: 5})
	for i := range 9 {
		if err := q.Remember(t.Context(), fmt.Sprint("delivery-", i), "push"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		seen, err := q.Seen(t.Context(), fmt.Sprint("delivery-", i))
		if want := i >= 4; err != nil || seen != want {
			t.Errorf("delivery %d: seen %v, want %v; %v", i, seen, want, err)
		}
	}
}
