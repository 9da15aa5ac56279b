package queue

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// pair returns the queues of two replicas with a NATS server of their own.
func pair(t *testing.T, c Config) (queues [2]*Queue) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	c.URL = s.ClientURL()
	for i := range queues {
		if queues[i], err = Open(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = queues[i].Close(t.Context()) })
	}
	return queues
}
