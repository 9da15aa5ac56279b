package queue

import (
	"errors"
	"testing"
	"time"
)

// TestStoredScan checks that StoredScan reads records of another replica before the watcher brings them.
func TestStoredScan(t *testing.T) {
	t.Parallel()
	replicas := pair(t, Config{})
	here, other := replicas[0], replicas[1]
	here.scans.mutex.Lock() // the watcher waits for it
	defer here.scans.mutex.Unlock()
	scan := Scan{ID: "a", Kind: KindPull, Installation: 1, Repository: 10, Pull: 7, Head: "abc", State: Running, Attempt: 1, Created: time.Unix(1, 0)}
	if err := other.PutScan(t.Context(), scan); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Scan(t.Context(), "a"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("this replica is told already: %v", err)
	}
	got, err := here.StoredScan(t.Context(), 1, 10, "a")
	if err != nil || got.Pull != 7 || got.Head != "abc" || got.Attempt != 1 {
		t.Errorf("stored %+v, %v", got, err)
	}
	for name, id := range map[string]string{"unknown": "b", "no id": "a/../b", "empty": ""} {
		if _, err := here.StoredScan(t.Context(), 1, 10, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v, want %v", name, err, ErrNotFound)
		}
	}
	if _, err := here.StoredScan(t.Context(), 1, 11, "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("another repository's: %v, want %v", err, ErrNotFound)
	}
}
