package queue

import "testing"

// TestBookForgets: with a subject's job goes what is known of scans from it alone, also of
// jobs that it took the place of.
func TestBookForgets(t *testing.T) {
	old := Job{ID: "a", Kind: KindPull, Installation: 1, Repository: 10, Pull: 1}
	job := old
	job.ID = "b"
	none := entry[record]{key: "x"}
	now := entry[record]{key: "x", value: &record{Job: job, Replaced: []replaced{{old, job.ID}}}}
	b := newBook(1)
	b.tellJob(none, now)
	if n := len(b.list(ScanFilter{})); n != 2 {
		t.Errorf("%d scans, want 2", n)
	}
	b.tellJob(now, none)
	if left := b.list(ScanFilter{}); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}
