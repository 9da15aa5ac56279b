package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/hostile"
	"github.com/preadmit/preadmit/report"
)

// hostileTitle is the title of the attacks' pull requests, and hostileBranch the prefix of
// their branches.
const (
	hostileTitle  = "\x1b]0;owned\a<script>alert(1)</script>\n::error file=x::owned\u202e {{.Token}}"
	hostileBranch = "--upload-pack=$(id>owned);`id`'\""
)

// attackEnv is an env in which the pull requests to octo/attacked, from eve's fork, are attacks.
type attackEnv struct {
	*env
	r      *replica
	canary *hostile.Canary
	// repo is the attacked repository, and fork the origin of the attacks.
	repo, fork *githubtest.Repository
}

// newAttackEnv starts a service with a canary that detects access to its secrets and environment.
func newAttackEnv(t *testing.T, o options) *attackEnv {
	t.Helper()
	w := newEnv(t)
	canary, err := hostile.NewCanary(t.TempDir())
	w.must(err)
	t.Cleanup(func() { w.must(canary.Close()) })
	s := &attackEnv{env: w, canary: canary}
	s.repo, err = w.hub.AddRepository(githubtest.RepositoryOptions{Owner: "octo", Name: "attacked"})
	w.must(err)
	s.take(s.repo, &hostile.Cases()[0], "main:main")
	s.fork, err = s.repo.Fork("eve")
	w.must(err)
	all := behindProxy()
	maps.Copy(all, options{"RECONCILE_EVERY": "0s"})
	maps.Copy(all, o)
	w.environment = append(w.environment, hostile.TokenVariable+"="+canary.Token)
	s.r = w.start(t.TempDir(), all)
	return s
}

// take creates the commits of a case and fetches one of their branches into a repository.
func (s *attackEnv) take(into *githubtest.Repository, c *hostile.Case, refs string) {
	s.t.Helper()
	dir := filepath.Join(s.t.TempDir(), "made")
	s.must(second(c.Make(dir, s.canary)))
	git := gittest.History{Dir: into.Dir()}
	s.must(second(git.Git("fetch", "--quiet", dir, "+"+refs)))
}

// attack is a case with its pull request.
type attack struct {
	hostile.Case
	branch string
	number int
}

// attack opens the pull request of a case.
func (s *attackEnv) attack(n int, c hostile.Case) *attack {
	s.t.Helper()
	a := &attack{Case: c, branch: fmt.Sprint(hostileBranch, n)}
	s.take(s.fork, &c, "pull:refs/heads/"+a.branch)
	var err error
	a.number, err = s.repo.OpenPull(githubtest.PullOptions{Head: a.branch, From: s.fork, Title: hostileTitle})
	s.must(err)
	return a
}

// TestHostile judges attacks of each kind. Each ends in time with the scanner's verdict, still
// has the other findings, and never passes if something cannot be judged. Nothing outside is
// reached, and the service keeps working. The tests of webhooks/jailed/child scan all attacks.
func TestHostile(t *testing.T) {
	t.Parallel()
	newAttackEnv(t, options{"SCAN_CONCURRENCY": "2", "SCAN_TIMEOUT": "4m"}).testCases(hostile.OfEachKind())
}

// TestHostileHeavy does so for attacks that take long because of what the service itself
// fetches. The others take long in the jailed child only, whose tests scan all of them.
func TestHostileHeavy(t *testing.T) {
	heavy := slices.DeleteFunc(hostile.Cases(), func(c hostile.Case) bool { return !c.Large })
	newAttackEnv(t, options{"SCAN_TIMEOUT": "4m"}).testCases(heavy)
}

// TestHostileEndless does so for roots that exceed the time limit of a root, a quarter of
// that of a scan.
func TestHostileEndless(t *testing.T) {
	fatal := slices.DeleteFunc(hostile.Cases(), func(c hostile.Case) bool { return !c.Fatal })
	newAttackEnv(t, options{"SCAN_TIMEOUT": "8s"}).testCases(fatal)
}

// testCases opens the pull requests of all cases and checks the results, and checks them
// again without the object that the policy denies.
func (s *attackEnv) testCases(cases []hostile.Case) {
	var all []*attack
	for i, c := range cases {
		all = append(all, s.attack(i, c))
	}
	for _, a := range all {
		s.t.Run(a.Name, func(t *testing.T) { s.of(t).checkPublished(a) })
	}
	for _, a := range all {
		if !a.Heavy && a.Verdict == "incomplete" {
			s.removeDenied(a)
		}
	}
	for _, a := range all {
		if !a.Heavy && a.Verdict == "incomplete" {
			s.t.Run(a.Name+" and nothing else", func(t *testing.T) { s.of(t).neverPassed(a) })
		}
	}
	s.checkService()
}

func (s *attackEnv) of(t *testing.T) *attackEnv {
	c := *s
	c.env = s.in(t)
	return &c
}

// attackTimeout is how long an attack may take: the limit of a scan, and the time before it.
const attackTimeout = 6 * time.Minute

// ended waits for the check run of an attack's head.
func (s *attackEnv) ended(a *attack) githubtest.CheckRun {
	s.t.Helper()
	head := s.repo.Pull(a.number).HeadSHA
	var found githubtest.CheckRun
	s.within(attackTimeout, "check run", func() []string {
		var states []string
		for _, c := range s.hub.CheckRuns() {
			if c.HeadSHA == head {
				found, states = c, append(states, c.Status)
			}
		}
		return states
	}, "completed")
	return found
}

// checkPublished checks everything that is published about an attack.
func (s *attackEnv) checkPublished(a *attack) {
	s.t.Helper()
	check := s.ended(a)
	if check.Conclusion != "failure" {
		s.t.Errorf("the check run is a %s: %s", check.Conclusion, check.Title)
	}
	told := s.told(a, check)
	scan := "/scans/" + path.Base(check.DetailsURL)
	page := s.page(scan)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") {
		s.t.Errorf("the page has markup of the repository: %s", page)
	}
	if check.Title != unscanned {
		document := s.page(scan + "/report.json")
		s.says(a, document)
		told += document + s.page(scan+"/report.sarif")
	} else if a.Name != "100 MB file" { // larger than the limit for fetching
		s.t.Errorf("nothing was judged: %s", check.Summary)
	}
	if line := hostile.Unsafe(told); line != "" {
		s.t.Errorf("told %s", line)
	}
	if reached := s.canary.Reached([]byte(told + page)); reached != "" {
		s.t.Error(reached)
	}
	s.t.Logf("%s", check.Title)
}

// unscanned is the title of check runs for commits that cannot be scanned at all.
const unscanned = "The scan could not be completed"

// told returns the texts that were last published for an attack: check run, comment and SARIF.
func (s *attackEnv) told(a *attack, check githubtest.CheckRun) string {
	s.t.Helper()
	var all strings.Builder
	texts := []string{check.Title, check.Summary, check.Text}
	for _, n := range check.Annotations { // without their paths, which are not escaped
		texts = append(texts, n.Title, n.Message, n.RawDetails)
	}
	all.WriteString(strings.Join(texts, "\n") + "\n")
	for _, c := range s.comments(s.repo, a.number) {
		fmt.Fprintln(&all, c)
	}
	for _, log := range slices.Backward(s.hub.SARIFs()) {
		if log.Ref == fmt.Sprintf("refs/pull/%d/merge", a.number) {
			all.Write(log.Log)
			break
		}
	}
	return all.String()
}

// page returns a page as a viewer with access sees it.
func (s *attackEnv) page(path string) string {
	s.t.Helper()
	status, body := s.r.getAs("alice", path)
	if status != 200 {
		s.t.Errorf("%s: %d %s", path, status, body)
	}
	return body
}

// says checks the verdict and the findings of the report.
func (s *attackEnv) says(a *attack, document string) {
	s.t.Helper()
	r, err := report.Read(strings.NewReader(document))
	s.must(err)
	if got := string(r.Verdict("", false)); got != a.Verdict {
		s.t.Errorf("verdict %s, want %s", got, a.Verdict)
	}
	for _, words := range []string{a.Reports, hostile.Finding} {
		quoted, err := json.Marshal(words)
		s.must(err)
		if !strings.Contains(document, words) && !bytes.Contains([]byte(document), quoted[1:len(quoted)-1]) {
			s.t.Errorf("the report does not say %q: %.2000s", words, document)
		}
	}
}

// removeDenied removes the object that the policy denies, so that only the attack is left.
func (s *attackEnv) removeDenied(a *attack) {
	s.t.Helper()
	git := gittest.History{Dir: s.repo.Dir()}
	text, err := git.Git("show", "main:web/cm.yaml")
	s.must(err)
	s.must(second(s.fork.Push(a.branch, githubtest.Files{"web/cm.yaml": text + "\n"})))
}

// neverPassed checks that an attack without other findings does not pass.
func (s *attackEnv) neverPassed(a *attack) {
	s.t.Helper()
	check := s.ended(a)
	if check.Conclusion != "failure" && check.Conclusion != "neutral" {
		s.t.Errorf("the check run is a %s: %s", check.Conclusion, check.Title)
	}
	told := s.told(a, check)
	if reached := s.canary.Reached([]byte(told)); reached != "" {
		s.t.Error(reached)
	}
	if strings.Contains(told, hostile.Finding) {
		s.t.Error("it tells of what was taken back")
	}
	s.t.Logf("%s: %s", check.Conclusion, check.Title)
}

// checkService checks that the service still works, leaked no secrets and left no files or processes.
func (s *attackEnv) checkService() {
	s.t.Helper()
	if status, body := s.r.get("/healthz"); status != 200 {
		s.t.Errorf("/healthz: %d %s", status, body)
	}
	began := time.Now()
	number := s.pull(s.shop, "change", "deny")
	s.judged(s.shop.Pull(number).HeadSHA, "failure", denied)
	s.t.Logf("a usual pull request took %v", time.Since(began).Round(time.Millisecond))
	s.eventually("what is not put away", s.r.busy)
	_, metrics := s.r.get("/metrics")
	if reached := s.canary.Reached([]byte(s.r.log.String() + metrics)); reached != "" {
		s.t.Errorf("of log and metrics: %s", reached)
	}
	if line := hostile.Unsafe(metrics); line != "" {
		s.t.Errorf("metrics have %s", line)
	}
	if code := s.r.stop(); code != 0 {
		s.t.Errorf("the service ended with %d", code)
	}
}
