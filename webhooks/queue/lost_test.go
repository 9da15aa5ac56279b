package queue_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// TestLost checks that a replica notices when an external NATS lost the streams, or when they were
// deleted, and requests a restart, since what it has in memory is not stored.
func TestLost(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// lose makes the server lose its streams.
		lose func(t *testing.T, s *server.Server)
		// anew is set if another replica creates new ones.
		anew bool
		want string
	}{
		"deleted":           {remove, false, "nats.url: the stream of "},
		"deleted, and made": {remove, true, "was made anew"},
		"disk":              {wipe, false, "nats.url: the stream of "},
		"disk, and made":    {wipe, true, "was made anew"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !test.anew {
				testall.Long(t) // it waits for a missing stream
			}
			s := serve(t, 1)[0]
			failed := make(chan error, 8)
			q := open(t, queue.Config{URL: s.ClientURL(), Failed: func(err error) { failed <- err }})
			enqueue(t, q, pull(1, 7))
			test.lose(t, s)
			if test.anew {
				// It writes more than this replica has seen of the streams.
				other := open(t, queue.Config{URL: s.ClientURL()})
				for n := range 8 {
					enqueue(t, other, pull(1, 20+n))
				}
			}
			select {
			case err := <-failed:
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
			case <-time.After(time.Minute):
				t.Error("nothing was said of it")
			}
		})
	}
}

// remove deletes the streams.
func remove(t *testing.T, s *server.Server) {
	t.Helper()
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	names := js.StreamNames(t.Context())
	for name := range names.Name() {
		if err := js.DeleteStream(context.Background(), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
}

// wipe restarts a server at the same address without its data.
func wipe(t *testing.T, s *server.Server) {
	t.Helper()
	port := s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	s.WaitForShutdown()
	run(t, &server.Options{
		Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
	})
}
