package queue_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/preadmit/preadmit/internal/freeport"
	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// serve starts servers on loopback: a cluster, or a single one.
func serve(t testing.TB, n int) []*server.Server {
	t.Helper()
	var servers []*server.Server
	ports := make([]int, n) // of routes: the servers of a cluster need each other's in advance
	for i := range ports {
		ports[i] = freeport.Port(t)
	}
	for i := range n {
		o := &server.Options{
			ServerName: fmt.Sprint("node-", i), Host: "127.0.0.1", Port: freeport.Port(t), NoLog: true, NoSigs: true,
			JetStream: true, StoreDir: t.TempDir(),
		}
		if n > 1 {
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]}
			for _, port := range ports {
				o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprint("127.0.0.1:", port)})
			}
		}
		servers = append(servers, run(t, o))
	}
	return servers
}

// run starts a server.
func run(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server did not start")
	}
	return s
}

func urls(servers []*server.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.ClientURL())
	}
	return strings.Join(all, ",")
}

// TestLease checks that what a dead replica held is taken over after the lease, by one replica.
func TestLease(t *testing.T) {
	t.Parallel()
	lease := 1500 * time.Millisecond
	c := queue.Config{URL: urls(serve(t, 1)), Lease: lease}
	dying, living := open(t, c), open(t, c)
	a := enqueue(t, living, pull(1, 7))
	lost := next(t, dying)
	none(t, living, 3*lease/2) // heartbeats arrive
	shut(t, dying)
	<-lost.Context().Done()
	if cause := context.Cause(lost.Context()); cause != queue.ErrLost {
		t.Error("cause:", cause)
	}
	got := next(t, living)
	if got.Job.ID != a.ID || got.Attempt != 2 {
		t.Errorf("got %s, attempt %d", got.Job.ID, got.Attempt)
	}
	done(t, got)
	wantStates(t, living, map[string]queue.State{a.ID: queue.Completed})
}

// TestCutOff checks that a replica that cannot reach the servers gives up its claim before another
// may take it.
func TestCutOff(t *testing.T) {
	t.Parallel()
	lease := time.Second
	servers := serve(t, 1)
	q := open(t, queue.Config{URL: urls(servers), Lease: lease})
	enqueue(t, q, pull(1, 7))
	c := next(t, q)
	servers[0].Shutdown()
	select {
	case <-c.Context().Done():
		if cause := context.Cause(c.Context()); cause != queue.ErrLost {
			t.Error("cause:", cause)
		}
	case <-time.After(20 * lease):
		t.Error("the claim was not given up")
	}
	if err := q.Ready(within(t, 100*time.Millisecond)); err == nil {
		t.Error("ready without servers")
	}
	if _, _, err := q.Enqueue(within(t, 100*time.Millisecond), pull(1, 8)); err == nil {
		t.Error("a job was taken without servers")
	}
}

// TestReplicas checks that replicas see each other's changes, and share the limit.
func TestReplicas(t *testing.T) {
	t.Parallel()
	c := queue.Config{URL: urls(serve(t, 1)), PerInstallation: 1}
	p, q := open(t, c), open(t, c)
	a := enqueue(t, p, pull(1, 7))
	claim := next(t, q)
	b := enqueue(t, p, pull(1, 7))
	<-claim.Context().Done()
	if cause := context.Cause(claim.Context()); cause != queue.ErrSuperseded {
		t.Error("cause:", cause)
	}
	done(t, claim)
	done(t, next(t, p))
	if err := p.PutReport(t.Context(), b.ID, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		return cmp.Diff(map[string]queue.State{a.ID: queue.Superseded, b.ID: queue.Completed}, states(q))
	})
	if report, err := q.Report(t.Context(), b.ID); string(report) != "{}" {
		t.Error(err)
	}
	const jobs = 60
	for i := range jobs {
		enqueue(t, p, pull(1, i+100))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var held, most, ended atomic.Int32
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() {
			for {
				c, err := []*queue.Queue{p, q}[i%2].Next(ctx)
				if err != nil {
					return
				}
				most.Store(max(most.Load(), held.Add(1)))
				time.Sleep(3 * time.Millisecond)
				held.Add(-1)
				if err := c.Done(context.Background()); err != nil {
					t.Error(err)
				}
				if ended.Add(1) == jobs {
					cancel() // not during a claim, after which the job would be free only after its lease
				}
			}
		})
	}
	workers.Wait()
	if most.Load() != 1 {
		t.Errorf("%d jobs of one installation were in progress at a time, want 1", most.Load())
	}
	wantStats(t, q, "0 pending, 0 running, 0 dead, 0 installations")
}

// eventually waits until complain returns "".
func eventually(t testing.TB, complain func() string) {
	t.Helper()
	eventuallyWithin(t, 60*time.Second, complain)
}

func eventuallyWithin(t testing.TB, d time.Duration, complain func() string) {
	t.Helper()
	for end := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		complaint := complain()
		if complaint == "" {
			return
		}
		if time.Now().After(end) {
			t.Error(complaint)
			return
		}
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	c := queue.Config{URL: urls(serve(t, 1)), Lease: 1500 * time.Millisecond}
	p, q := open(t, c), open(t, c)
	held, release, err := p.Lock(t.Context(), "reconcile")
	if err != nil {
		t.Fatal(err)
	}
	for range 4 { // for longer than the lease
		if _, _, err := q.Lock(t.Context(), "reconcile"); !errors.Is(err, queue.ErrLocked) {
			t.Fatal("held by two:", err)
		}
		time.Sleep(500 * time.Millisecond)
	}
	if _, free, err := q.Lock(t.Context(), "other"); err != nil {
		t.Error(err)
	} else {
		free()
	}
	if held.Err() != nil {
		t.Error("not kept:", context.Cause(held))
	}
	release()
	if held.Err() == nil {
		t.Error("released and still held")
	}
	held, _, err = q.Lock(t.Context(), "reconcile")
	if err != nil {
		t.Fatal(err)
	}
	shut(t, q)
	select {
	case <-held.Done():
	case <-within(t, 30*time.Second).Done():
	}
	if cause := context.Cause(held); cause != queue.ErrLost {
		t.Error("cause:", cause)
	}
	eventually(t, func() string {
		_, free, err := p.Lock(t.Context(), "reconcile")
		if err != nil {
			return err.Error()
		}
		free()
		return ""
	})
}

func TestLockEmbedded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, queue.Config{Dir: dir})
	if _, _, err := q.Lock(t.Context(), "reconcile"); err != nil {
		t.Fatal(err)
	}
	shut(t, q)
	q = open(t, queue.Config{Dir: dir})
	if _, _, err := q.Lock(t.Context(), "reconcile"); err != nil {
		t.Error("what a dead process held:", err)
	}
}

// TestCluster stops one of three servers while two replicas work.
func TestCluster(t *testing.T) {
	testall.Long(t)
	t.Parallel()
	servers := serve(t, 3)
	c := queue.Config{URL: urls(servers), Lease: 5 * time.Second}
	replicas := []*queue.Queue{open(t, c), open(t, c)}
	const jobs = 150
	ids := make(chan string, jobs)
	enqueued := make(chan bool)
	go func() {
		defer close(enqueued)
		for i := range jobs {
			if i == jobs/3 {
				servers[1].Shutdown()
			}
			j := pull(int64(i%5+1), i+1)
			j.Delivery = fmt.Sprint("delivery-", i)
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			stored, _, err := replicas[i%2].Enqueue(ctx, j)
			cancel()
			if err != nil {
				t.Error(err)
			}
			ids <- stored.ID
		}
	}()
	var held, finished sync.Map
	var doubled, again atomic.Int32
	var workers sync.WaitGroup
	ctx := within(t, 90*time.Second)
	ctx, stop := context.WithCancel(ctx)
	for i := range 6 {
		workers.Go(func() {
			for {
				c, err := replicas[i%2].Next(ctx)
				if err != nil {
					return
				}
				if _, taken := held.LoadOrStore(c.Job.ID, true); taken {
					doubled.Add(1)
				}
				time.Sleep(5 * time.Millisecond)
				held.Delete(c.Job.ID)
				if err := c.Done(context.Background()); err != nil {
					t.Log("done:", err)
					continue
				}
				if _, was := finished.LoadOrStore(c.Job.ID, true); was {
					again.Add(1)
				}
			}
		})
	}
	<-enqueued
	eventuallyWithin(t, 60*time.Second, func() string {
		for i, q := range replicas {
			if err := q.Ready(ctx); err != nil { // it knows everything
				return fmt.Sprintf("replica %d: %v", i, err)
			}
			if s, _ := q.Stats(ctx); s.Pending+s.Running > 0 {
				return fmt.Sprintf("replica %d has: %+v", i, s)
			}
		}
		return ""
	})
	stop()
	workers.Wait()
	close(ids)
	for id := range ids {
		if _, ok := finished.Load(id); !ok {
			t.Error("lost:", id)
		}
	}
	if doubled.Load() > 0 || again.Load() > 0 {
		t.Errorf("%d jobs were held by two, %d were done twice", doubled.Load(), again.Load())
	}
	for i, q := range replicas {
		eventuallyWithin(t, 20*time.Second, func() string {
			if n := len(q.Scans(queue.ScanFilter{States: []queue.State{queue.Completed}})); n != jobs {
				return fmt.Sprintf("replica %d knows of %d completed scans, want %d", i, n, jobs)
			}
			return ""
		})
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	busy := t.TempDir()
	open(t, queue.Config{Dir: busy})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	url := urls(serve(t, 1))
	for name, test := range map[string]struct {
		config queue.Config
		want   string
	}{
		"nothing":     {queue.Config{}, "dataDir: is empty"},
		"a file":      {queue.Config{Dir: file}, "dataDir: mkdir"},
		"in use":      {queue.Config{Dir: busy}, "another process uses it; stop that one or name another directory"},
		"no server":   {queue.Config{URL: "nats://127.0.0.1:1"}, "nats.url: connecting to NATS"},
		"credentials": {queue.Config{URL: url, CredentialsFile: "/nowhere"}, "nats.credentialsFile: open /nowhere"},
		"CA":          {queue.Config{URL: url, CAFile: "/nowhere"}, "nats.caFile: open /nowhere"},
		"lease":       {queue.Config{Dir: t.TempDir(), Lease: time.Millisecond}, "queue.lease: 1ms is too short"},
	} {
		_, err := queue.Open(t.Context(), test.config)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", name, err, test.want)
		}
	}
	ctx := within(t, time.Second)
	if _, err := queue.Open(ctx, queue.Config{URL: url, Replicas: 3}); err == nil || !strings.Contains(err.Error(), "nats.replicas: ") {
		t.Error("copies without servers:", err)
	}
}
