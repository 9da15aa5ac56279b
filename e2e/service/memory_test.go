package service

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMemoryIsFlat pushes to the same pull requests again and again, and measures the memory of
// the service once it has the maximum number of scans. PREADMIT_LOAD_RATE and
// PREADMIT_LOAD_SECONDS set the number of deliveries. The memory is checked only from 30 seconds
// on, since a few seconds are not enough.
func TestMemoryIsFlat(t *testing.T) {
	const keep, pulls = 1000, 500
	w := newEnv(t)
	l := &load{w: w, rate: number(t, "PREADMIT_LOAD_RATE", 200), seconds: number(t, "PREADMIT_LOAD_SECONDS", 5), pulls: pulls}
	dir := t.TempDir()
	r := w.start(dir, options{"SCAN_CONCURRENCY": "1", "LOG_LEVEL": "info", "RECONCILE_EVERY": "0s", "KEEP_SCANS": fmt.Sprint(keep)})
	l.prepare(20)
	memory := l.observe(r)
	l.fewer(r, keep*21/20)
	t.Logf("%d scans that ended are left of %d", r.scansEnded(), len(l.sent))
	if code := r.stop(); code != 0 {
		t.Errorf("the service ended with %d", code)
	}
	l.report(dir)
	half := memory[len(memory)/2:]
	if low, high := slices.Min(half), slices.Max(half); l.seconds >= 30 && high > low*5/4 {
		t.Errorf("the memory grew in the second half of the time, from %d to %d MiB", low, high)
	}
}

// observe sends the load, and returns samples of the memory in MiB.
func (l *load) observe(r *replica) []int {
	l.w.t.Helper()
	before, live := rss(l.w.t, r), r.live()
	enough := make(chan struct{})
	memory := l.watch(r, enough)
	l.send(r.url + "/webhooks/github")
	close(enough)
	all := <-memory
	n := len(l.sent)
	l.w.t.Logf("load average %s", loadAverage())
	l.w.t.Logf("RSS in MiB: %d at the start, then every %ds %v: %d bytes for each of %d deliveries", before, l.step(), all, ((all[len(all)-1]-before)<<20)/n, n)
	l.w.t.Logf("live heap in MiB: %d at the start, then %d: %d bytes for each", live>>20, r.live()>>20, (r.live()-live)/n)
	return all
}

// fewer waits until the service has at most most ended scans.
func (l *load) fewer(r *replica, most int) {
	l.w.t.Helper()
	l.w.eventually(fmt.Sprintf("more than %d scans that ended", most), func() []string {
		return []string{fmt.Sprint(r.scansEnded() > most)}
	}, "false")
}

// scansEnded returns the number of stored scans without a job.
func (r *replica) scansEnded() int {
	r.w.t.Helper()
	return r.count("preadmit_queue_scans") - r.count(`preadmit_queue_jobs{state="pending"}`) - r.count(`preadmit_queue_jobs{state="running"}`)
}

// count returns the value of a metric as a number.
func (r *replica) count(name string) int {
	r.w.t.Helper()
	values := r.metric(name)
	if len(values) != 1 {
		r.w.t.Fatalf("%s: %q", name, values)
	}
	n, err := strconv.ParseFloat(values[0], 64)
	r.w.must(err)
	return int(n)
}

// live returns the approximate number of live bytes after the last garbage collection, from
// the size at which the next one starts.
func (r *replica) live() int {
	r.w.t.Helper()
	return r.count("go_memstats_next_gc_bytes") * 100 / (100 + r.count("go_gc_gogc_percent"))
}

// step returns the seconds between two samples of the memory.
func (l *load) step() int { return max(1, l.seconds/6) }

// watch samples the memory until enough is closed.
func (l *load) watch(r *replica, enough chan struct{}) <-chan []int {
	out := make(chan []int, 1)
	go func() {
		var all []int
		for {
			select {
			case <-enough:
				out <- append(all, rss(l.w.t, r))
				return
			case <-time.After(time.Duration(l.step()) * time.Second):
				all = append(all, rss(l.w.t, r))
			}
		}
	}()
	return out
}

// rss returns the resident memory of a replica, in MiB.
func rss(t *testing.T, r *replica) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		t.Error("memory:", err)
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(after + " ?")[0])
	if err != nil {
		t.Error("memory:", err)
	}
	return kib >> 10
}
