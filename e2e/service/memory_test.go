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

// TestMemoryIsFlat has the same pull requests pushed again and again, and looks at what the
// service takes once it has as many scans as it is to keep. PREADMIT_LOAD_RATE and
// PREADMIT_LOAD_SECONDS say how many deliveries there are; what comes of a few seconds
// says nothing of the memory, so that it is judged from 30 on.
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

// observe sends the load, and tells what memory it takes: in MiB, from time to time.
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

// fewer waits until the service has no more scans that ended than most.
func (l *load) fewer(r *replica, most int) {
	l.w.t.Helper()
	l.w.eventually(fmt.Sprintf("more than %d scans that ended", most), func() []string {
		return []string{fmt.Sprint(r.scansEnded() > most)}
	}, "false")
}

// scansEnded counts the scans that are kept though they have no job.
func (r *replica) scansEnded() int {
	r.w.t.Helper()
	return r.count("preadmit_queue_scans") - r.count(`preadmit_queue_jobs{state="pending"}`) - r.count(`preadmit_queue_jobs{state="running"}`)
}

// count is a metric that is a number.
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

// live is about how many bytes the collector found in use: it begins anew when that has
// grown by so many percent.
func (r *replica) live() int {
	r.w.t.Helper()
	return r.count("go_memstats_next_gc_bytes") * 100 / (100 + r.count("go_gc_gogc_percent"))
}

// step is how many seconds lie between two looks at the memory.
func (l *load) step() int { return max(1, l.seconds/6) }

// watch looks at the memory from time to time, until enough is closed.
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

// rss is the memory that a replica has resident, in MiB.
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
