package queue_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestOpenEnds checks that Open ends with its context while servers accept connections and do not
// respond.
func TestOpenEnds(t *testing.T) {
	t.Parallel()
	var mute []string
	for range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		mute = append(mute, "nats://"+l.Addr().String())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("ended")
	time.AfterFunc(100*time.Millisecond, func() { cancel(ended) })
	start := time.Now()
	q, err := queue.Open(ctx, queue.Config{URL: strings.Join(mute, ",")})
	if err == nil {
		shut(t, q)
	}
	if !errors.Is(err, ended) {
		t.Errorf("error %v, want %v", err, ended)
	}
	if took := time.Since(start); took > 1500*time.Millisecond {
		t.Errorf("it ended after %s", took)
	}
}
