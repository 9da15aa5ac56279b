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

// traffic simulates actions on pull requests. Each head adds a ConfigMap with a unique name
// that is denied, or in every third pull request one that is allowed, so that the final
// verdict of each is known.
type traffic struct {
	w      *env
	random *rand.Rand
	repos  []*githubtest.Repository
	all    []*change
	counts map[string]int // number of actions by kind
}

// change is a pull request.
type change struct {
	repo   *githubtest.Repository
	branch string
	number int
	open   bool
	// fine is set if all heads pass.
	fine bool
	// name is the name of the ConfigMap in the newest head, the last of heads.
	name  string
	heads []string
}

// newTraffic returns traffic in some repositories, with an open pull request in each. Each
// repository has its own installation, with 5000 requests per hour.
func newTraffic(w *env, seed uint64, repositories int) *traffic {
	w.t.Helper()
	tr := &traffic{w: w, random: rand.New(rand.NewPCG(seed, 0)), counts: map[string]int{}}
	for i := range repositories {
		account := fmt.Sprint("fleet-", i)
		w.must(second(w.app.Install(account)))
		tr.repos = append(tr.repos, w.repositoryOf(account, "shop"))
	}
	for _, r := range tr.repos {
		w.must(tr.opening(r))
	}
	return tr
}

// seed returns a seed from the environment, to repeat a failed run, or a new one.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := rand.Uint64N(1_000_000)
	if text := os.Getenv("PREADMIT_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal("PREADMIT_SEED:", err)
		}
	}
	t.Logf("PREADMIT_SEED=%d", n)
	return n
}

// number returns a number from the environment.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s: %q is no positive number", name, text)
	}
	return n
}

// moment returns a random duration below d.
func moment(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d)))
}

// begin starts the actions, with a pause below d after each one. The returned function stops
// them.
func (tr *traffic) begin(d time.Duration) (stop func()) {
	enough, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			if err := tr.act(); err != nil {
				ended <- err
				return
			}
			select {
			case <-enough:
				ended <- nil
				return
			case <-time.After(moment(tr.random, d)):
			}
		}
	}()
	return func() {
		tr.w.t.Helper()
		close(enough)
		tr.w.must(<-ended)
	}
}

// act performs one action.
func (tr *traffic) act() error {
	open, closed := tr.some(true), tr.some(false)
	dice := tr.random.IntN(100)
	switch {
	case dice < 10 || len(open) < 3:
		return tr.opening(tr.repos[tr.random.IntN(len(tr.repos))])
	case dice < 20 && len(closed) > 0:
		c := closed[tr.random.IntN(len(closed))]
		return tr.done("reopened", c.repo.ReopenPull(c.number), func() { c.open = true })
	}
	c := open[tr.random.IntN(len(open))]
	switch {
	case dice < 30 || len(open) > 8:
		return tr.done("closed", c.repo.ClosePull(c.number), func() { c.open = false })
	case dice < 45:
		return tr.push(c, "force-pushed", func(f githubtest.Files) (string, error) { return c.repo.ForcePush(c.branch, "main", f) })
	}
	return tr.push(c, "pushed", func(f githubtest.Files) (string, error) { return c.repo.Push(c.branch, f) })
}

// some returns the pull requests that are open, or those that are closed.
func (tr *traffic) some(open bool) []*change {
	var out []*change
	for _, c := range tr.all {
		if c.open == open {
			out = append(out, c)
		}
	}
	return out
}

func (tr *traffic) done(what string, err error, then func()) error {
	if err == nil {
		tr.counts[what]++
		then()
	}
	return err
}

func (tr *traffic) opening(r *githubtest.Repository) error {
	c := &change{repo: r, branch: fmt.Sprint("change-", len(tr.all)), open: true, fine: len(tr.all)%3 == 2}
	err := tr.push(c, "began", func(f githubtest.Files) (string, error) { return r.Push(c.branch, f) })
	if err != nil {
		return err
	}
	c.number, err = r.OpenPull(githubtest.PullOptions{Head: c.branch, Title: c.branch})
	return tr.done("opened", err, func() { tr.all = append(tr.all, c) })
}

// push pushes another head to a pull request.
func (tr *traffic) push(c *change, what string, do func(githubtest.Files) (string, error)) error {
	c.name = fmt.Sprintf("%s-head-%d-", c.branch, len(c.heads)+1)
	key := "deny"
	if c.fine {
		key = "fine"
	}
	head, err := do(githubtest.Files{"app/" + c.branch + ".yaml": configMap(c.name+"x", key)})
	return tr.done(what, err, func() { c.heads = append(c.heads, head) })
}

// wrong returns the deviations from the expected final state: the newest head of each open
// pull request has one verdict, and the pull request has one comment, which is about the
// newest head; nothing is in progress; no head has two verdicts.
func (tr *traffic) wrong() []string {
	runs := map[string][]githubtest.CheckRun{}
	for _, r := range tr.w.hub.CheckRuns() {
		runs[r.HeadSHA] = append(runs[r.HeadSHA], r)
	}
	var out []string
	for _, c := range tr.all {
		for i, head := range c.heads {
			if said := c.verdicts(i, runs[head]); said != "" {
				out = append(out, fmt.Sprintf("%s, head %d of %d, %s: %s", c.branch, i+1, len(c.heads), head[:7], said))
			}
		}
		if !c.open {
			continue
		}
		comments := tr.w.comments(c.repo, c.number)
		if c.fine && len(comments) == 0 {
			continue
		}
		if len(comments) != 1 || !strings.Contains(comments[0], c.name) {
			out = append(out, fmt.Sprintf("%s: comments %.80q, want one of %s", c.branch, comments, c.name))
		}
	}
	return out
}

// verdicts returns the mistakes in the check runs of a head.
func (c *change) verdicts(i int, runs []githubtest.CheckRun) string {
	told := 0
	for _, r := range runs {
		switch {
		case r.Status != "completed":
			return "a check run is " + r.Status
		case r.Name != "preadmit":
			return "a check run is named " + r.Name
		case r.Conclusion == "cancelled":
		case c.fine && r.Conclusion == "success" && r.Title == clean:
			told++
		case r.Conclusion != "failure" || r.Title != denied || !strings.Contains(r.Summary, fmt.Sprintf("%s-head-%d-", c.branch, i+1)):
			return fmt.Sprintf("check run %s %q", r.Conclusion, r.Title)
		default:
			told++
		}
	}
	newest := c.open && i == len(c.heads)-1
	if told > 1 || newest && (told != 1 || runs[len(runs)-1].Conclusion == "cancelled") {
		said := fmt.Sprintf("%d verdicts in %d check runs, open is %t", told, len(runs), c.open)
		for _, r := range runs {
			said += fmt.Sprintf("; %d %s %q of %s, %s", r.ID, r.Conclusion, r.Title, r.DetailsURL, r.ExternalID)
		}
		return said
	}
	return ""
}

// doubled returns the number of heads with more than one check run.
func (tr *traffic) doubled() int {
	n, runs := 0, map[string]int{}
	for _, r := range tr.w.hub.CheckRuns() {
		if runs[r.HeadSHA]++; runs[r.HeadSHA] == 2 {
			n++
		}
	}
	return n
}

func (tr *traffic) String() string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(tr.counts)) {
		out = append(out, fmt.Sprintf("%s %d", what, tr.counts[what]))
	}
	return strings.Join(out, ", ")
}

// busy returns what a replica has not finished or removed: jobs, directories of fetched repositories.
func (r *replica) busy() []string {
	var out []string
	for _, state := range []string{"pending", "running", "dead"} {
		if n := r.metric(fmt.Sprintf("preadmit_queue_jobs{state=%q}", state)); !slices.Equal(n, []string{"0"}) {
			out = append(out, fmt.Sprintf("jobs %s: %q", state, n))
		}
	}
	return append(out, r.left()...)
}

// left returns the remaining directories of fetched repositories, and files in the system's
// temporary directory.
func (r *replica) left() []string {
	var out []string
	for _, pattern := range []string{"tmp/*/job-*", "system-tmp/*"} {
		names, _ := filepath.Glob(filepath.Join(r.dir, pattern)) // cannot fail: the patterns are valid
		out = append(out, names...)
	}
	rooms, _ := filepath.Glob(filepath.Join(r.dir, "tmp/*"))
	if len(rooms) > 1 {
		out = append(out, fmt.Sprintf("rooms of dead processes: %q", rooms))
	}
	return out
}
