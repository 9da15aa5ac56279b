package queue

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// TestWords checks that equal strings share memory, which is not part of a larger string, and that the
// number of known strings is limited.
func TestWords(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("octo/shop", 2)
	a, b, none := whole[:4], whole[9:13], ""
	w := interner{}
	w.share(&a, &b, &none)
	if a != "octo" || b != "octo" || none != "" {
		t.Fatalf("%q, %q and %q", a, b, none)
	}
	if unsafe.StringData(a) != unsafe.StringData(b) || unsafe.StringData(a) == unsafe.StringData(whole) {
		t.Error("not one text of its own")
	}
	for i := range 2 * maxInterned {
		text := fmt.Sprint("text-", i)
		w.share(&text)
	}
	if len(w.known) > maxInterned {
		t.Errorf("%d texts are known, want %d at most", len(w.known), maxInterned)
	}
}

// TestOneScan checks that a scan record is in memory once: the index points at the one in the cache.
func TestOneScan(t *testing.T) {
	t.Parallel()
	q, err := Open(t.Context(), Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close(t.Context())
	j, _, err := q.Enqueue(t.Context(), Job{Kind: KindPull, Installation: 1, Repository: 10, Pull: 7, Owner: "octo", Repo: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if pendingJob := q.schedule.jobs[j.Subject()]; pendingJob.value != q.jobs.at(j.Subject()).value || pendingJob.write != "" {
		t.Errorf("the pendingJob is not the job's record alone: %+v", pendingJob.entry)
	}
	if p := q.index.entries[j.ID]; p.record != nil || p.job != &q.jobs.at(j.Subject()).value.Job {
		t.Error("the scan that waits is not its job")
	}
	c, err := q.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := q.index.entries[j.ID]; p.job != nil || p.record != q.scans.at(scanOf(j).key()).value {
		t.Error("the scan that ended is not its record")
	}
}

// TestReportLeavesNothing checks that the remains of removed reports do not grow with their number.
func TestReportLeavesNothing(t *testing.T) {
	t.Parallel()
	q, err := Open(t.Context(), Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close(t.Context())
	s := Scan{ID: "x", Installation: 1, Repository: 10, State: Completed}
	if err := q.PutScan(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	messages := func() uint64 {
		info, err := q.reportStream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Msgs
	}
	if err := q.PutReport(t.Context(), s.ID, []byte("{}")); err != nil || messages() == 0 {
		t.Fatalf("%d messages, %v", messages(), err)
	}
	if err := q.dropMarker(t.Context(), s.ID); err != nil || messages() == 0 {
		t.Errorf("a report that is there was taken for one that went: %d messages, %v", messages(), err)
	}
	if err := q.dropReport(t.Context(), s.ID); err != nil || messages() != 0 {
		t.Errorf("%d messages, %v", messages(), err)
	}
	if err := q.dropReport(t.Context(), s.ID); err != nil {
		t.Error("again:", err)
	}
}
