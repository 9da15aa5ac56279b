package queue

import (
	"fmt"
	"testing"
)

// TestBookForgets checks that removing a subject's job removes the scans that are derived from it, also
// those of jobs that it replaced.
func TestBookForgets(t *testing.T) {
	t.Parallel()
	old := Job{ID: "a", Kind: KindPull, Installation: 1, Repository: 10, Pull: 1}
	job := old
	job.ID = "b"
	none := entry[record]{key: "x"}
	now := entry[record]{key: "x", value: &record{Job: job, Replaced: []replaced{{old, job.ID}}}}
	b := newScanIndex(1)
	b.updateJob(none, now)
	if n := len(b.list(ScanFilter{})); n != 2 {
		t.Errorf("%d scans, want 2", n)
	}
	b.updateJob(now, none)
	if left := b.list(ScanFilter{}); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

// TestIndexCounts checks that the index counts the records of ended scans, and signals when there are
// too many.
func TestIndexCounts(t *testing.T) {
	t.Parallel()
	b := newScanIndex(20)
	had := map[string]entry[Scan]{}
	change := func(id string, s *Scan) {
		now := entry[Scan]{key: id, value: s}
		b.updateScan(had[id], now)
		had[id] = now
	}
	want := func(ended int, full bool) {
		t.Helper()
		if b.ended != ended || len(b.full) > 0 != full {
			t.Errorf("%d ended, full %v; want %d, %v", b.ended, len(b.full) > 0, ended, full)
		}
	}
	for i := range 22 {
		id := fmt.Sprint(i)
		change(id, &Scan{ID: id, State: Running})
		want(min(i, 21), false)
		if i == 21 {
			break
		}
		change(id, &Scan{ID: id, State: Completed})
		change(id, &Scan{ID: id, State: Completed, HasReport: true})
		want(i+1, false)
	}
	change("0", nil)
	want(20, false)
	change("21", &Scan{ID: "21", State: Failed})
	want(21, false)
	change("1", &Scan{ID: "1", State: Running}) // claimed again
	want(20, false)
	change("1", &Scan{ID: "1", Owner: "renamed", State: Superseded})
	want(21, false)
	change("22", &Scan{ID: "22", State: Cancelled})
	want(22, true)
}
