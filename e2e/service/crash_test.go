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

// calm is how long it may take until the service is idle: it requests failed deliveries from
// GitHub after a minute.
const calm = 4 * time.Minute

// TestCrash kills the service at random times while pull requests are pushed to, opened and
// closed, starts it again, and waits until it is idle: nothing is lost, done twice or left
// behind. PREADMIT_CRASH_RUNS sets the number of runs.
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
	// stages counts the kills by stage. took has the time that the rest took after each kill.
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

// kill kills the service at a random time before limit, and returns its stage. The child
// process that scans must not outlive it.
func (c *crashes) kill(limit time.Duration) (stage string) {
	c.w.t.Helper()
	c.w.hub.Forget() // the recorded requests
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

// stageOf returns the stage of a process according to the last request of a worker.
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

// descendants returns the descendants of a process.
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

// stat returns the fields in /proc/PID/stat after the name: state, parent, and others; nil if
// the process has ended.
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

// living returns those of the processes that have not ended.
func living(pids []int) []string {
	var out []string
	for _, pid := range pids {
		if fields := stat(pid); fields != nil && fields[0] != "Z" && fields[0] != "X" {
			out = append(out, fmt.Sprint(pid))
		}
	}
	return out
}
