package intake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

// BenchmarkDelivery measures deliveries of a usual size, signed, over loopback, into a queue that syncs
// every write: one at a time, 64 at a time, and 200 a second. They are for 500 pull requests in
// turn; later ones supersede earlier ones.
func BenchmarkDelivery(b *testing.B) {
	b.Run("single", func(b *testing.B) { deliverAll(b, 1, 0) })
	b.Run("parallel64", func(b *testing.B) { deliverAll(b, 64, 0) })
	b.Run("rate200", func(b *testing.B) { deliverAll(b, 64, 200) })
}

// payloads returns payloads of a usual size, for 500 pull requests.
func payloads() [][]byte {
	all := make([][]byte, 500)
	for i := range all {
		payload := opened(i + 1)
		all[i] = fmt.Appendf(nil, `%s,"padding":"%s"}`, payload[:len(payload)-1], strings.Repeat("x", 25_000))
	}
	return all
}

// deliverAll sends b.N deliveries by some senders, at a rate per second if there is one, and reports
// the time from when each was due to its response.
func deliverAll(b *testing.B, senders int, rate float64) {
	bodies := payloads()
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
				if status, text := d.send(d.request("pull_request", uuid.NewString(), bodies[i%500])); status != http.StatusAccepted {
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
