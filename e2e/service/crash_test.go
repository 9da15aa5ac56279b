package service

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
)

// calm is how long it may take until nothing is left to do: what GitHub could not deliver
// is asked for after a minute.
const calm = 4 * time.Minute

// TestCrash kills the service at random moments while people push, open and close, starts
// it again, and waits until it has nothing to do: nothing is lost, nothing is there twice,
// nothing is left behind. PREADMIT_CRASH_RUNS says how often.
func TestCrash(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	n := seed(t)
	tr := newTraffic(w, n, 3)
	runs := number(t, "PREADMIT_CRASH_RUNS", 5)
	c := &crashes{w: w, tr: tr, random: rand.New(rand.NewPCG(n, 1)), dir: t.TempDir(), stages: map[string]int{}}
	c.start()
	for i := range runs {
		w.must(tr.act())
		c.run(i)
	}
	if code := c.replica.stop(); code != 0 {
		t.Errorf("the service ended with %d", code)
	}
	if left, err := os.ReadDir(filepath.Join(c.dir, "tmp")); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	slices.Sort(c.took)
	t.Logf("%d runs, kills at: %v", runs, c.stages)
	t.Logf("from the start to calm: median %s, longest %s", c.took[len(c.took)/2], c.took[len(c.took)-1])
	t.Logf("people: %s; %d check runs, %d heads with more than one", tr, len(w.hub.CheckRuns()), tr.doubled())
	if n := tr.doubled(); n > 0 {
		t.Errorf("%d heads have more than one check run", n)
	}
}

// crashes kills a service again and again.
type crashes struct {
	w       *env
	tr      *traffic
	random  *rand.Rand
	dir     string
	replica *replica
	// stages counts what was killed where, took is how long all took after it.
	stages map[string]int
	took   []time.Duration
}

func (c *crashes) start() {
	c.replica = c.w.launch(c.dir, options{
		"RECONCILE_EVERY": "2s", "SCAN_CONCURRENCY": "2",
	})
}

// run kills once, or twice: the second time while the service starts.
func (c *crashes) run(i int) {
	c.w.t.Helper()
	stop := c.tr.begin(700 * time.Millisecond)
	stage := c.kill(6 * time.Second)
	time.Sleep(moment(c.random, time.Second))
	c.start()
	if c.random.IntN(3) == 0 {
		stage += " and " + c.kill(600*time.Millisecond)
		c.start()
	}
	began := time.Now()
	time.Sleep(moment(c.random, 2*time.Second))
	stop()
	c.replica.ready()
	c.w.within(calm, fmt.Sprintf("run %d, killed at %q: what is wrong", i, stage), c.wrong)
	c.took = append(c.took, time.Since(began).Round(time.Millisecond))
	c.w.t.Logf("run %d: killed at %q, calm after %s; %s", i, stage, c.took[i], c.tr)
}

// kill ends the service at a random moment before limit, and says what it was at. The
// child that scans must not outlive it.
func (c *crashes) kill(limit time.Duration) (stage string) {
	c.w.t.Helper()
	c.w.hub.Forget() // requests
	time.Sleep(moment(c.random, limit))
	children := descendants(c.replica.cmd.Process.Pid)
	c.replica.kill()
	switch stage = stageOf(c.w.hub.Requests()); {
	case len(children) > 0:
		stage = "scanning"
	case !strings.Contains(c.replica.log.String(), "listening"):
		stage = "starting"
	}
	c.stages[stage]++
	c.w.eventually("children that outlive the service", func() []string { return living(children) })
	return stage
}

func (c *crashes) wrong() []string {
	if wrong := c.tr.wrong(); len(wrong) > 0 {
		return wrong
	}
	return c.replica.busy()
}

// stageOf says what a process was at by the last request of a worker.
func stageOf(requests []githubtest.Request) string {
	for _, r := range slices.Backward(requests) {
		completes := strings.Contains(string(r.Body), `"completed"`)
		switch path := r.Path; {
		case strings.Contains(path, "/pulls/"), strings.Contains(path, "/compare/"):
			return "asking"
		case strings.HasSuffix(path, "/check-runs") && r.Method == "POST":
			return "begun"
		case strings.Contains(path, "git-upload-pack"):
			return "fetching"
		case strings.Contains(path, "/sarifs"), strings.Contains(path, "/comments"):
			return "publishing"
		case strings.Contains(path, "/check-runs/") && completes:
			return "completed"
		case strings.Contains(path, "/check-runs/"):
			return "annotating"
		case strings.HasSuffix(path, "/check-runs"):
			return "looking for a check run"
		}
	}
	return "idle"
}

// descendants are the processes below one.
func descendants(pid int) []int {
	parents := map[int]int{}
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		if id, err := strconv.Atoi(filepath.Base(name)); err == nil {
			parents[id] = parentOf(id)
		}
	}
	var out []int
	for id := range maps.Keys(parents) {
		for at := parents[id]; at > 1; at = parents[at] {
			if at == pid {
				out = append(out, id)
				break
			}
		}
	}
	return out
}

// stat are the fields of a process after its name: state, parent, and others; nil when it
// is gone.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

func parentOf(pid int) int {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1]) // the kernel writes a number
	return n
}

// living are those of some processes that have not ended.
func living(pids []int) []string {
	var out []string
	for _, pid := range pids {
		if fields := stat(pid); fields != nil && fields[0] != "Z" && fields[0] != "X" {
			out = append(out, fmt.Sprint(pid))
		}
	}
	return out
}
