package github

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report"
)

const (
	head  = "1111111111111111111111111111111111111111"
	merge = "2222222222222222222222222222222222222222"
)

// clock is a clock that advances only by Sleep.
type clock struct {
	now   time.Time
	slept []time.Duration
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.slept, c.now = append(c.slept, d), c.now.Add(d)
	return ctx.Err()
}

// total returns the total time slept.
func (c *clock) total() (sum time.Duration) {
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

// hub starts a fake GitHub, whose problems fail the test at its end.
func hub(t *testing.T, config githubtest.Config) *githubtest.Server {
	t.Helper()
	s, err := githubtest.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			t.Errorf("GitHub's description or limits: %s", p)
		}
	})
	return s
}

func pullTarget() Target {
	return Target{
		Owner: "octo", Repo: "shop", HeadSHA: head, Pull: 7, Ref: "refs/pull/7/merge", RefSHA: merge,
		DetailsURL: "https://github.com/octo/shop/actions/runs/1",
	}
}

// publisher returns a publisher for a server, with a clock that does not wait.
func publisher(t *testing.T, s *githubtest.Server, target Target, opts Options) (*Publisher, *clock) {
	t.Helper()
	c := &clock{now: time.Now()}
	opts.BaseURL, opts.Clock = s.URL, c
	p, err := New(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

// findings returns a report of n new findings, with three actions in turn, ten per file.
func findings(n int) *report.Report {
	r := &report.Report{APIVersion: report.APIVersion, Kind: report.Kind}
	r.Tool.Name = "preadmit"
	actions := []report.Action{report.ActionAudit, report.ActionWarn, report.ActionDeny}
	for i := range n {
		action := actions[i%3]
		r.Findings = append(r.Findings, report.Finding{
			Fingerprint: fmt.Sprintf("%08x", i), Status: report.StatusNew, Action: action, Actions: []report.Action{action},
			Cause: report.CauseValidation, Policy: "replicas", Message: fmt.Sprintf("number %d is too much", i), Operation: "UPDATE",
			Object: &report.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: fmt.Sprintf("web-%d", i)},
			Root:   "apps",
			Location: report.Location{
				Path: fmt.Sprintf("apps/%d.yaml", i/10), StartLine: 1 + i%10, StartColumn: 3, EndLine: 1 + i%10, EndColumn: 9, Tree: "head",
			},
		})
	}
	return r
}

// changed makes the server list the files of a report's findings.
func changed(s *githubtest.Server, r *report.Report) {
	var files []githubtest.File
	seen := map[string]bool{}
	for _, f := range r.Findings {
		if !seen[f.Location.Path] {
			seen[f.Location.Path] = true
			files = append(files, githubtest.File{Path: f.Location.Path})
		}
	}
	s.SetFiles(files...)
}

// writes returns the requests that write, as "METHOD path status".
func writes(s *githubtest.Server) []string {
	out := []string{}
	for _, r := range s.Requests() {
		if r.Writes() {
			out = append(out, fmt.Sprintf("%s %s %d", r.Method, r.Path[strings.LastIndex(r.Path, "/")+1:], r.Status))
		}
	}
	return out
}

// markdown returns a body with about a hundred bytes for each finding.
func markdown(r *report.Report) string {
	var b strings.Builder
	b.WriteString("# preadmit\n\n| finding | place |\n|---|---|\n")
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "| %s | `%s:%d` | %s |\n", f.Message, f.Location.Path, f.Location.StartLine, strings.Repeat("word ", 12))
	}
	return b.String()
}

func TestNewRefusesMistakes(t *testing.T) {
	change := func(do func(*Target)) Target {
		target := pullTarget()
		do(&target)
		return target
	}
	for name, test := range map[string]struct {
		target Target
		opts   Options
		want   string
	}{
		"owner":    {change(func(t *Target) { t.Owner = "../x" }), Options{}, "owner"},
		"repo":     {change(func(t *Target) { t.Repo = ".." }), Options{}, "repository"},
		"short":    {change(func(t *Target) { t.HeadSHA = "1234567" }), Options{}, "full object name"},
		"number":   {change(func(t *Target) { t.Pull = -1 }), Options{}, "pull request -1"},
		"ref":      {change(func(t *Target) { t.Ref = "main" }), Options{}, `the ref "main"`},
		"merge":    {change(func(t *Target) { t.RefSHA = "" }), Options{}, "needs its commit"},
		"details":  {change(func(t *Target) { t.DetailsURL = "javascript:x" }), Options{}, "details URL"},
		"password": {pullTarget(), Options{BaseURL: "https://user:secret@host/"}, "URL of the API"},
		"no host":  {pullTarget(), Options{BaseURL: "api.github.com"}, "URL of the API"},
	} {
		_, err := New(test.target, test.opts)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want one on %q", name, err, test.want)
		}
	}
	p, err := New(change(func(t *Target) { t.DetailsURL = "https://x.example/a b<c>" }), Options{})
	if err != nil || p.target.DetailsURL != "https://x.example/a%20b%3Cc%3E" {
		t.Errorf("a good target: %v with the details URL %q", err, p.target.DetailsURL)
	}
}
