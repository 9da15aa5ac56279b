package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report/github/githubtest"
	"github.com/preadmit/preadmit/scanner"
)

// TestActionAnnotatesTheChange: of more findings than GitHub shows, those in the files
// of the change come first.
func TestActionAnnotatesTheChange(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	var many strings.Builder
	for i := range 12 {
		many.WriteString(configMap(fmt.Sprintf("a%d", i), "later") + "---\n")
	}
	if _, err := f.Commit(githubtest.Files{"app/a.yaml": many.String()}); err != nil {
		t.Fatal(err)
	}
	base, err := f.Git("rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	policies, err := os.ReadFile(filepath.Join(f.Dir, "policies", "policies.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	stricter := strings.ReplaceAll(string(policies), "'deny' in object.data", "('deny' in object.data || 'later' in object.data)")
	head, err := f.Commit(githubtest.Files{"policies/policies.yaml": stricter, "app/z.yaml": configMap("z", "deny")})
	if err != nil {
		t.Fatal(err)
	}
	f.event("push", "refs/heads/main", head, map[string]any{"before": base, "after": head})
	stdout, _ := f.action(exitFindings)
	if n := strings.Count(stdout, "::error file="); n != 10 || !strings.Contains(stdout, "::error file=app/z.yaml") {
		t.Errorf("%d errors, want 10 with app/z.yaml:\n%s", n, stdout)
	}
}

// TestActionSummaryFits: whatever a report has, a summary has at most as many bytes as
// GitHub takes.
func TestActionSummaryFits(t *testing.T) {
	f := newForge(t, githubtest.Config{})
	run := &actionRun{
		runner:   &runner{server: "https://github.com", owner: "octo", repo: "shop", summary: f.env["GITHUB_STEP_SUMMARY"]},
		occasion: &occasion{headSHA: f.Head},
	}
	run.publish = &publishing{run: run, notices: []string{strings.Repeat("n", 1000)}}
	for _, n := range []int{0, 60, 6000} {
		r := &scanner.Report{APIVersion: scanner.APIVersion, Kind: scanner.Kind}
		for i := range n {
			r.Findings = append(r.Findings, scanner.Finding{
				Cause: scanner.CausePolicy, Status: scanner.StatusNew, Action: scanner.ActionDeny,
				Message:  strings.Repeat("\u6f22", 200) + fmt.Sprint(i),
				Location: scanner.Location{Path: fmt.Sprintf("app/%d.yaml", i), StartLine: 1, EndLine: 1},
			})
		}
		if err := os.WriteFile(run.runner.summary, []byte("of another step\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := run.writeSummary(r); err != nil {
			t.Fatal(err)
		}
		text := f.read("GITHUB_STEP_SUMMARY")
		if len(text) > 1<<20 || n == 6000 && len(text) < 1<<19 {
			t.Errorf("%d findings: %d bytes", n, len(text))
		}
		if !utf8.ValidString(text) || !strings.HasPrefix(text, "of another step\n") || !strings.HasSuffix(text, "n`\n\n") {
			t.Errorf("%d findings: not the whole: %.100q ... %q", n, text, text[len(text)-100:])
		}
	}
}
