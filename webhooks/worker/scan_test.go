package worker

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// outside starts a NATS server behind a proxy whose traffic the test can block.
func (w *env) outside() (url string, traffic *sync.RWMutex) {
	w.t.Helper()
	nats, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, JetStream: true, StoreDir: w.t.TempDir(),
	})
	w.must(err)
	nats.Start()
	w.t.Cleanup(func() { nats.Shutdown(); nats.WaitForShutdown() })
	if !nats.ReadyForConnections(10 * time.Second) {
		w.t.Fatal("NATS did not start")
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	w.t.Cleanup(func() { _ = door.Close() })
	traffic = &sync.RWMutex{}
	go func() {
		for {
			client, err := door.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", nats.Addr().String())
			if err != nil {
				_ = client.Close()
				continue
			}
			go carry(client, behind, traffic)
			go carry(behind, client, traffic)
		}
	}()
	return "nats://" + door.Addr().String(), traffic
}

// carry copies data while traffic is not locked.
func carry(to io.WriteCloser, from io.Reader, traffic *sync.RWMutex) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		traffic.RLock()
		_, err = to.Write(buffer[:n])
		traffic.RUnlock()
		if err != nil {
			return
		}
	}
}

// TestSlowStore checks that a scan waits only a moment for its progress to be stored, and that its result
// is stored in any case.
func TestSlowStore(t *testing.T) {
	w := newEnv(t)
	w.must(w.queue.Close(context.Background()))
	url, traffic := w.outside()
	w.queueConf = queue.Config{URL: url}
	w.openQueue()
	job := w.pull()
	task := w.task(job)
	task.record = task.recordOf(t.Context())
	task.report(t.Context(), "render", 1, 9)
	w.want("stage", w.record(job.ID).Stage, "render")

	traffic.Lock()
	task.report(t.Context(), "judge", 2, 9) // returns although nothing is stored
	traffic.Unlock()
	w.must(task.keep(t.Context()))
	w.want("stage", w.record(job.ID).Stage, "judge")
}
