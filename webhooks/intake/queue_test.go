package intake

import (
	"context"
	"testing"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// embedded returns a real queue for one test.
func embedded(t testing.TB) *queue.Queue {
	t.Helper()
	q, err := queue.Open(t.Context(), queue.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(context.Background()); err != nil {
			t.Errorf("close the queue: %v", err)
		}
	})
	return q
}
