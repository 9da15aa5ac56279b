package service

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk returns a directory with its own small file system.
func (w *env) smallDisk() string {
	w.t.Helper()
	dir := w.t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=128m"); err != nil {
		w.t.Skipf("mounting a small disk takes the rights to: %v", err)
	}
	w.t.Cleanup(func() { w.must(syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// zeros is a reader of endless zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// fill fills a disk. Removing the returned file frees the space.
func (w *env) fill(disk string) (file string) {
	w.t.Helper()
	f, err := os.Create(filepath.Join(disk, "filler"))
	w.must(err)
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		w.t.Fatal(err)
	}
	w.must(f.Close())
	return f.Name()
}

// TestFullDisk: while the disk is full, deliveries are refused and the service is not ready. When
// there is space again, the same process continues, also with the refused deliveries.
func TestFullDisk(t *testing.T) {
	w := newEnv(t)
	disk := w.smallDisk()
	r := w.start(filepath.Join(disk, "data"), options{"RECONCILE_EVERY": "2s"})
	before := w.pull(w.shop, "before", "deny")
	w.judged(w.shop.Pull(before).HeadSHA, "failure", denied)

	filler := w.fill(disk)
	during := w.pull(w.shop, "during", "deny")
	sent := w.app.Deliveries()
	t.Logf("with a full disk a delivery is answered %d", sent[len(sent)-1].Status)
	w.eventually("/readyz", func() []string { status, _ := r.get("/readyz"); return []string{fmt.Sprint(status)} }, "503")
	if status, _ := r.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	if got := w.checks(w.shop.Pull(during).HeadSHA); len(got) > 1 {
		t.Errorf("check runs: %q", got)
	}

	began := time.Now()
	w.must(os.Remove(filler))
	r.ready()
	t.Logf("ready %s after there was room", time.Since(began).Round(time.Millisecond))
	w.judged(w.shop.Pull(during).HeadSHA, "failure", denied)
	after := w.pull(w.shop, "after", "deny")
	w.judged(w.shop.Pull(after).HeadSHA, "failure", denied)
	w.eventually("what is left to do", r.busy)
	if log := r.log.String(); !strings.Contains(log, "no space left on device") {
		t.Error("the log does not say that the disk was full")
	}
}
