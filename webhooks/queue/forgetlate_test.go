package queue

import (
	"errors"
	"testing"
)

// TestForgottenScanIsNotRestored checks that a write which is about to create the first record of a scan -
// because its job was replaced, or claimed - does not restore the scan when its job is forgotten
// meanwhile.
func TestForgottenScanIsNotRestored(t *testing.T) {
	t.Parallel()
	q := openEmbedded(t)
	old, _, err := q.Enqueue(t.Context(), Job{Kind: KindPull, Installation: 1, Repository: 10, Owner: "o", Repo: "secret-plans", Pull: 7})
	fatal(t, err)
	newer, err := q.complete(Job{Kind: KindPull, Installation: 1, Repository: 10, Owner: "o", Repo: "secret-plans", Pull: 7})
	fatal(t, err)
	// As Enqueue does, without the recording that follows in the background.
	e, _, err := q.jobs.change(t.Context(), old.Subject(), "", func(now *record) (*record, error) {
		return now.supersede(newer, newer.Created, q.index.unsettled), nil
	})
	fatal(t, err)
	fatal(t, q.Forget(t.Context(), 1, nil))

	if err := q.settle(t.Context(), e.value); err != nil {
		t.Error("settle:", err)
	}
	if err := q.beginScan(t.Context(), &Claim{Job: newer, Attempt: 1}); !errors.Is(err, ErrLost) {
		t.Error("begin:", err)
	}
	if left := q.Scans(ScanFilter{}); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
