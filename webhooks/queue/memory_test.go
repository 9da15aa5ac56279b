package queue_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/preadmit/preadmit/webhooks/queue"
)

var (
	heapFile = flag.String("heap", "", "write heap profiles of BenchmarkMemory to files that begin like this, with -memprofilerate")
	rest     = flag.Duration("rest", 15*time.Second, "time that BenchmarkMemory waits for what passes to have passed")
)

// BenchmarkMemory measures how many bytes of the heap a new pull request takes: waiting is with its
// job, its scan and its delivery, ended is after the job's end, and rested some time later. With
// -rest 15s the server's caches of reads and writes are empty, which do not grow with the number of
// records; with -rest 6m so is everything else that is temporary: the messages of deletions and the
// ids of writes. A delivery is also measured by itself. Run it with -benchtime 20000x.
func BenchmarkMemory(b *testing.B) {
	b.Run("scan", func(b *testing.B) {
		q := open(b, queue.Config{})
		crowd(b, 64, 64, func(i int) { deliver(b, q, i) }) // what exists once
		before := heap(b, "")
		crowd(b, b.N, 64, func(i int) { deliver(b, q, 64+i) })
		b.ReportMetric(float64(heap(b, "waiting")-before)/float64(b.N), "waiting-B/record")
		crowd(b, b.N, 16, func(int) { judge(b, q) })
		b.ReportMetric(float64(heap(b, "ended")-before)/float64(b.N), "ended-B/record")
		rested(b, before, "rested")
	})
	b.Run("delivery", func(b *testing.B) {
		q := open(b, queue.Config{})
		before := heap(b, "")
		crowd(b, b.N, 64, func(int) {
			if err := q.Remember(b.Context(), uuid.NewString(), "pull_request"); err != nil {
				b.Error(err)
			}
		})
		rested(b, before, "delivery")
	})
}

// rested returns the memory in use after a while.
func rested(b *testing.B, before int64, name string) {
	b.StopTimer()
	if b.N > 1 { // the first run is a trial
		time.Sleep(*rest)
	}
	b.ReportMetric(float64(heap(b, name)-before)/float64(b.N), "rested-B/record")
}

// crowd calls do for 0 to n-1 in some goroutines.
func crowd(t testing.TB, n, some int, do func(i int)) {
	var all sync.WaitGroup
	for part := range some {
		all.Go(func() {
			for i := part; i < n && !t.Failed(); i += some {
				do(i)
			}
		})
	}
	all.Wait()
}

// deliver processes the delivery of a new pull request, in one of 20 repositories.
func deliver(t testing.TB, q *queue.Queue, i int) {
	repository := i % 20
	guid := uuid.NewString()
	j := queue.Job{
		Kind: queue.KindPull, Installation: 51234567, Repository: int64(712345678 + repository),
		Owner: "an-organization", Repo: fmt.Sprint("repository-", repository), Pull: 1000 + i, Reason: "pull_request.synchronize",
		Head: fmt.Sprintf("%040x", i), Base: fmt.Sprintf("%040x", i/20), Delivery: guid,
	}
	if seen, err := q.Seen(t.Context(), guid); err != nil || seen {
		t.Error(seen, err)
	}
	if _, fresh, err := q.Enqueue(t.Context(), j); err != nil || !fresh {
		t.Error(fresh, err)
	}
	if err := q.Remember(t.Context(), guid, "pull_request"); err != nil {
		t.Error(err)
	}
}

// judge processes the next job, like a worker.
func judge(t testing.TB, q *queue.Queue) {
	c, err := q.Next(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	s, err := q.Scan(t.Context(), c.Job.ID)
	if err != nil {
		t.Error(err)
	}
	s.Title, s.Author, s.BaseRef, s.Judged = "Raise the memory of the shop's frontend", "somebody", "main", s.Head
	s.CheckURL = fmt.Sprintf("https://github.com/%s/%s/runs/%d", s.Owner, s.Repo, 30_000_000_000+s.Pull)
	s.CommentURL = fmt.Sprintf("https://github.com/%s/%s/pull/%d#issuecomment-%d", s.Owner, s.Repo, s.Pull, 2_000_000_000+s.Pull)
	s.State, s.Conclusion, s.Denied = queue.Completed, "failure", 2
	if err := q.PutScan(t.Context(), s); err != nil {
		t.Error(err)
	}
	done(t, c)
}

// heap returns the size of the heap in use, and writes a profile if requested.
func heap(t testing.TB, name string) int64 {
	for range 4 { // the server's caches release memory into pools, which takes two more collections
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
	}
	if *heapFile != "" && name != "" {
		file, err := os.Create(*heapFile + "." + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := pprof.Lookup("heap").WriteTo(file, 0); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
