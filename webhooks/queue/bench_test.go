package queue_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// tally collects durations and reports their percentiles.
type tally struct {
	mutex sync.Mutex
	took  []time.Duration
}

func (l *tally) add(d time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.took = append(l.took, d)
}

func (l *tally) report(b *testing.B) {
	slices.Sort(l.took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(l.took[(len(l.took)-1)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
}

// take makes the calls of a delivery: Seen, Enqueue and Remember, for one of 1,000 pull requests.
func take(b *testing.B, q *queue.Queue, i int64, all *tally) {
	j := pull(i%10+1, int(i/10)%100+1)
	j.Delivery = fmt.Sprint("delivery-", i)
	start := time.Now()
	seen, err := q.Seen(b.Context(), j.Delivery)
	if err != nil || seen {
		b.Error(seen, err)
	}
	if _, fresh, err := q.Enqueue(b.Context(), j); err != nil || !fresh {
		b.Error(fresh, err)
	}
	if err := q.Remember(b.Context(), j.Delivery, "pull_request"); err != nil {
		b.Error(err)
	}
	all.add(time.Since(start))
}

// BenchmarkEnqueue stores deliveries durably.
func BenchmarkEnqueue(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		q, all := open(b, queue.Config{}), &tally{}
		i := 0
		for b.Loop() {
			i++
			start := time.Now()
			if _, _, err := q.Enqueue(b.Context(), pull(1, i)); err != nil {
				b.Fatal(err)
			}
			all.add(time.Since(start))
		}
		all.report(b)
	})
	b.Run("delivery", func(b *testing.B) {
		q, all := open(b, queue.Config{}), &tally{}
		i := int64(0)
		for b.Loop() {
			i++
			take(b, q, i, all)
		}
		all.report(b)
	})
	b.Run("delivery-64", func(b *testing.B) {
		q, all := open(b, queue.Config{}), &tally{}
		var i atomic.Int64
		b.SetParallelism(32) // times two processors
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				take(b, q, i.Add(1), all)
			}
		})
		all.report(b)
	})
	b.Run("200-a-second", func(b *testing.B) {
		q, all := open(b, queue.Config{}), &tally{}
		var took sync.WaitGroup
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		i := int64(0)
		for b.Loop() {
			i++
			delivery := i
			<-tick.C
			took.Go(func() { take(b, q, delivery, all) })
		}
		took.Wait()
		all.report(b)
	})
}

// BenchmarkNext claims and ends jobs while ten thousand wait.
func BenchmarkNext(b *testing.B) {
	q, all := open(b, queue.Config{}), &tally{}
	fill := func(n int) {
		var filled sync.WaitGroup
		for part := range 64 {
			filled.Go(func() {
				for i := part; i < n; i += 64 {
					if _, _, err := q.Enqueue(b.Context(), pull(int64(i%100+1), i+1)); err != nil {
						b.Error(err)
					}
				}
			})
		}
		filled.Wait()
	}
	fill(10000)
	for b.Loop() {
		start := time.Now()
		c, err := q.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		all.add(time.Since(start))
		if err := c.Done(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if stats, _ := q.Stats(b.Context()); stats.Pending == 0 {
			fill(10000)
		}
		b.StartTimer()
	}
	all.report(b)
}
