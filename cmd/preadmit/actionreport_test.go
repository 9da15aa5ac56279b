package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/preadmit/preadmit/internal/githubtest"
	"github.com/preadmit/preadmit/report"
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
		runner:  &runner{server: "https://github.com", owner: "octo", repo: "shop", summary: f.env["GITHUB_STEP_SUMMARY"]},
		trigger: &trigger{headSHA: f.Head},
	}
	run.publish = newPublishing(run)
	run.publish.AddNote("%s", strings.Repeat("n", 1000))
	for _, n := range []int{0, 60, 6000} {
		r := &report.Report{APIVersion: report.APIVersion, Kind: report.Kind}
		for i := range n {
			r.Findings = append(r.Findings, report.Finding{
				Cause: report.CausePolicy, Status: report.StatusNew, Action: report.ActionDeny,
				Message:  strings.Repeat("\u6f22", 200) + fmt.Sprint(i),
				Location: report.Location{Path: fmt.Sprintf("app/%d.yaml", i), StartLine: 1, EndLine: 1},
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

// TestActionTranslatesLines: the merge commit is judged, and the head annotated.
func TestActionTranslatesLines(t *testing.T) {
	var file strings.Builder
	for i := range 5 {
		file.WriteString(configMap(fmt.Sprint("a", i), "fine") + "---\n")
	}
	before, added := file.String(), configMap("z", "deny")
	f := newForgeOf(t, githubtest.Config{}, githubtest.Files{"app/new.yaml": before},
		githubtest.Files{"app/new.yaml": "# one\n# two\n" + before}, githubtest.Files{"app/new.yaml": before + added})
	f.pullRequest()
	stdout, _ := f.action(exitFindings, "--check-run")
	run := f.api.CheckRuns()[0]
	want := strings.Count(before+added, "\n")
	if len(run.Annotations) != 1 || run.Annotations[0].StartLine != want {
		t.Errorf("annotations %+v, want one on line %d", run.Annotations, want)
	}
	if place := fmt.Sprintf("  %d:9 Deny", want+2); !strings.Contains(stdout, place) {
		t.Errorf("the log does not tell the place %q in the merge commit:\n%s", place, stdout)
	}
	if link := fmt.Sprintf("/blob/%s/app/new.yaml#L%d", f.Merge, want+2); !strings.Contains(f.summary, link) {
		t.Errorf("the summary does not link %q:\n%s", link, f.summary)
	}
}

// TestActionErrors: what an error quotes is no workflow command, and it keeps its exit
// code.
func TestActionErrors(t *testing.T) {
	var stderr strings.Builder
	code := exitCode(&stderr, guarded(usagef("configuration:\n  ::add-mask::x\n##[error]y")))
	if code != exitUsage || stderr.String() != "preadmit: configuration:\n  \\u003a:add-mask::x\n##\\u005berror]y\n" {
		t.Errorf("exit code %d:\n%s", code, &stderr)
	}
	if guarded(nil) != nil || exitCode(&stderr, guarded(errFindings)) != exitFindings {
		t.Error("what is no mistake is one now")
	}
}
