package intake

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

// BenchmarkDelivery is a delivery of a usual size, signed, over loopback, into a queue
// that syncs every write: one at a time, 64 at a time, and 200 a second.
func BenchmarkDelivery(b *testing.B) {
	body := payloadOf(b, 25_000)
	b.Run("single", func(b *testing.B) { deliverAll(b, body, 1, 0) })
	b.Run("parallel64", func(b *testing.B) { deliverAll(b, body, 64, 0) })
	b.Run("rate200", func(b *testing.B) { deliverAll(b, body, 64, 200) })
}

// payloadOf is a payload of about n bytes for pull request 0, see deliverAll.
func payloadOf(b *testing.B, n int) []byte {
	b.Helper()
	payload := opened(1)
	return append(slices.Concat(payload[:len(payload)-1], []byte(`,"padding":"`), make([]byte, 0, n)), slices.Concat(slices.Repeat([]byte("x"), n), []byte(`"}`))...)
}

// deliverAll makes b.N deliveries by some senders, at a rate per second if there is one,
// and reports how long they took to be answered, from when they were due.
func deliverAll(b *testing.B, body []byte, senders int, rate float64) {
	d := open(b, embedded(b))
	d.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = senders
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	b.ResetTimer()
	for range senders {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				due := time.Now()
				if rate > 0 {
					due = began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
				if status, text := d.send(d.request("pull_request", uuid.NewString(), body)); status != http.StatusAccepted {
					b.Errorf("answered %d %s", status, text)
				}
				took[i] = time.Since(due)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
