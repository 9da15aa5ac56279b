package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// TestActionAnnotatesTheChange: if there are more findings than GitHub shows, those in files
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
	stdout, _ := f.action(cli.ExitFindings)
	if n := strings.Count(stdout, "::error file="); n != 10 || !strings.Contains(stdout, "::error file=app/z.yaml") {
		t.Errorf("%d errors, want 10 with app/z.yaml:\n%s", n, stdout)
	}
}

// TestActionSummaryFits: for any report, the summary fits GitHub's limit, including the
// notices and the summaries of other steps.
func TestActionSummaryFits(t *testing.T) {
	f := newForge(t, githubtest.Config{ReadOnly: true})
	f.checkout(f.Merge)
	f.event("workflow_run", "refs/heads/main", f.Base, map[string]any{
		"workflow_run": map[string]any{"event": "pull_request", "head_sha": f.Head},
	})
	saved := filepath.Join(t.TempDir(), "report.json")
	for _, test := range []struct{ findings, others int }{{0, 10}, {60, 10}, {6000, 10}, {6000, 1 << 19}} {
		r := &report.Report{APIVersion: report.APIVersion, Kind: report.Kind}
		for i := range test.findings {
			r.Findings = append(r.Findings, report.Finding{
				Cause: report.CausePolicy, Status: report.StatusNew, Action: report.ActionDeny,
				Message:  strings.Repeat("\u6f22", 200) + fmt.Sprint(i),
				Location: report.Location{Path: fmt.Sprintf("app/%d.yaml", i), StartLine: 1, EndLine: 1},
			})
		}
		if err := cli.WriteFile(saved, func(w io.Writer) error { return format.Write(w, "json", r, format.Options{}) }); err != nil {
			t.Fatal(err)
		}
		others := strings.Repeat("x", test.others) + "\n"
		if err := os.WriteFile(f.env["GITHUB_STEP_SUMMARY"], []byte(others), 0o644); err != nil {
			t.Fatal(err)
		}
		f.run(cli.ExitClean, "--from", saved, "--check-run")
		if len(f.summary) > 1<<20 || test.findings == 6000 && len(f.summary) < 1<<19 {
			t.Errorf("%d findings: %d bytes", test.findings, len(f.summary))
		}
		if !utf8.ValidString(f.summary) || !strings.HasPrefix(f.summary, others) || !strings.Contains(f.summary, "checks: write") {
			t.Errorf("%d findings: not the whole: %.100q ... %q", test.findings, f.summary, f.summary[len(f.summary)-100:])
		}
	}
}

// TestActionTranslatesLines: the merge commit is judged, and the head is annotated.
func TestActionTranslatesLines(t *testing.T) {
	var file strings.Builder
	for i := range 5 {
		file.WriteString(configMap(fmt.Sprint("a", i), "fine") + "---\n")
	}
	before, added := file.String(), configMap("z", "deny")
	f := newForgeOf(t, githubtest.Config{}, githubtest.Files{"app/new.yaml": before},
		githubtest.Files{"app/new.yaml": "# one\n# two\n" + before}, githubtest.Files{"app/new.yaml": before + added})
	f.pullRequest()
	stdout, _ := f.action(cli.ExitFindings, "--check-run")
	run := f.api.CheckRuns()[0]
	want := strings.Count(before+added, "\n")
	if len(run.Annotations) != 1 || run.Annotations[0].StartLine != want {
		t.Errorf("annotations %+v, want one on line %d", run.Annotations, want)
	}
	if place := fmt.Sprintf("  %d:9 denied", want+2); !strings.Contains(stdout, place) {
		t.Errorf("the log does not tell the place %q in the merge commit:\n%s", place, stdout)
	}
	if link := fmt.Sprintf("/blob/%s/app/new.yaml#L%d", f.Merge, want+2); !strings.Contains(f.summary, link) {
		t.Errorf("the summary does not link %q:\n%s", link, f.summary)
	}
}
