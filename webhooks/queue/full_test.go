//go:build linux

package queue_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/preadmit/preadmit/webhooks/queue"
)

// disk is a small file system that can be filled.
type disk struct {
	t   *testing.T
	dir string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{t, t.TempDir()}
	if err := syscall.Mount("none", d.dir, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("mounting a small disk takes the rights to: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

// fill uses all space except some bytes.
func (d *disk) fill(leave int64) {
	d.t.Helper()
	file, err := os.Create(filepath.Join(d.dir, "filler"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer file.Close()
	for chunk := make([]byte, 4096); err == nil; {
		_, err = file.Write(chunk)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
	about, err := file.Stat()
	if err == nil {
		err = file.Truncate(about.Size() - leave)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *disk) free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.dir, "filler")); err != nil {
		d.t.Fatal(err)
	}
}

// ready waits until the queue is ready, or not ready.
func ready(t *testing.T, q *queue.Queue, want bool) error {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := q.Ready(ctx)
		cancel()
		if (err == nil) == want {
			return err
		}
	}
	t.Fatalf("ready does not become %v", want)
	return nil
}

// TestFullDisk checks that a queue whose disk was full accepts jobs again once there is space, and still
// has everything that it accepted before, without a restart of the process.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	failed := make(chan error, 1)
	q := open(t, queue.Config{Dir: filepath.Join(d.dir, "queue"), Failed: func(err error) { failed <- err }, Lease: 2 * time.Second})
	first := enqueue(t, q, pull(1, 1))
	for round := range 3 {
		d.fill(0)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		var refused error
		for i := 0; refused == nil; i++ { // the last block may have space for some
			_, _, refused = q.Enqueue(ctx, pull(2, 1+i%50))
		}
		cancel()
		if err := ready(t, q, false); err == nil || !strings.Contains(err.Error(), "no space left on device") {
			t.Errorf("round %d: it is not ready since %v", round, err)
		}
		d.free()
		began := time.Now()
		ready(t, q, true)
		t.Logf("round %d: ready %s after there was room", round, time.Since(began).Round(time.Millisecond))
		enqueue(t, q, pull(3, 1+round))
	}
	select {
	case err := <-failed:
		t.Errorf("it failed: %v", err)
	default:
	}
	stats, err := q.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range stats.Pending {
		c := next(t, q)
		ids[c.Job.ID] = true
		done(t, c)
	}
	if !ids[first.ID] || stats.Pending < 4 {
		t.Errorf("%d jobs, and the first is there: %v", stats.Pending, ids[first.ID])
	}
}

// TestReportOnFullDisk checks the same when only a report did not fit.
func TestReportOnFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	q := open(t, queue.Config{Dir: filepath.Join(d.dir, "queue")})
	enqueue(t, q, pull(1, 1))
	c := next(t, q)
	d.fill(4 << 20)
	report := make([]byte, 8<<20)
	if _, err := rand.Read(report); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	refused := make(chan error, 1)
	go func() { refused <- q.PutReport(ctx, c.Job.ID, report) }()
	if err := ready(t, q, false); err == nil {
		t.Error("it is ready, and takes no reports")
	}
	cancel()
	if err := <-refused; err == nil {
		t.Fatal("it has room for the report")
	}
	d.free()
	ready(t, q, true)
	if err := q.PutReport(t.Context(), c.Job.ID, report); err != nil {
		t.Fatal(err)
	}
	if got, err := q.Report(t.Context(), c.Job.ID); err != nil || len(got) != len(report) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	done(t, c)
}
