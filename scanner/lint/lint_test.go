package lint_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/lint"
)

var update = flag.Bool("update", false, "write the want files of testdata anew")

// TestRules lints the trees in testdata. An archive has the tree; files below context/ are extra
// objects; want has the expected findings, one per line; author, if present, has the values of --as
// and the groups.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("archives %q, error %v", files, err)
	}
	found := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := lint.Run(t.Context(), input(archive))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				found[f.Rule] = true
			}
			compareWant(t, file, archive, lines(r))
		})
	}
	for _, id := range report.LintRuleIDs() {
		if !found[id] {
			t.Errorf("no archive has a finding of rule %s", id)
		}
	}
}

func input(archive *txtar.Archive) lint.Input {
	tree, given := fstest.MapFS{}, fstest.MapFS{}
	in := lint.Input{Scan: scanner.Input{Head: scanner.Tree{FS: tree}}}
	for _, f := range archive.Files {
		name, isContext := strings.CutPrefix(f.Name, "context/")
		switch {
		case f.Name == "want":
		case f.Name == "author":
			words := strings.Fields(string(f.Data))
			author := config.NewUser(words[0], words[1:])
			in.Author = &author
		case isContext:
			given[name] = &fstest.MapFile{Data: f.Data}
		default:
			tree[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	if len(given) > 0 {
		in.Scan.Extra = []scanner.Extra{{Name: "context", FS: given}}
	}
	return in
}

// lines formats findings for comparison.
func lines(r *report.LintReport) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d:%d %s %s", f.Location.Path, f.Location.StartLine, f.Location.StartColumn, f.Severity, f.Rule)
		if f.Location.Field != "" {
			fmt.Fprintf(&b, " %s", f.Location.Field)
		}
		fmt.Fprintf(&b, "\n\t%s\n\thint: %s\n", strings.ReplaceAll(strings.TrimRight(f.Message, "\n"), "\n", "\n\t"), f.Hint)
	}
	for _, i := range r.Indeterminate {
		fmt.Fprintf(&b, "indeterminate: %s\n", i.Why)
	}
	return b.String()
}

func compareWant(t *testing.T, file string, archive *txtar.Archive, got string) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	if i < 0 {
		t.Fatal("the archive has no file want")
	}
	if *update {
		archive.Files[i].Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Split(string(archive.Files[i].Data), "\n")
	if diff := cmp.Diff(want, strings.Split(got, "\n")); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestDisabledRulesAreNamed(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/bindings.txtar")
	if err != nil {
		t.Fatal(err)
	}
	in := input(archive)
	in.Disable = []string{"unbound-policy", "null-params", "unbound-policy"}
	r, err := lint.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if slices.Contains(in.Disable, f.Rule) {
			t.Errorf("rule %s is off and found %q", f.Rule, f.Message)
		}
	}
	if diff := cmp.Diff([]string{"null-params", "unbound-policy"}, r.Summary.Disabled); diff != "" {
		t.Errorf("disabled (-want +got):\n%s", diff)
	}
	if len(r.Findings) == 0 {
		t.Error("the other rules found nothing")
	}
}

func TestEqualTreesGiveEqualReports(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/typecheck.txtar")
	if err != nil {
		t.Fatal(err)
	}
	first, err := lint.Run(t.Context(), input(archive))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := lint.Run(t.Context(), input(archive))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("reports differ (-first +again):\n%s", diff)
		}
	}
}

func TestFingerprintsSurviveLineMoves(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/bindings.txtar")
	if err != nil {
		t.Fatal(err)
	}
	before, err := lint.Run(t.Context(), input(archive))
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Files {
		if strings.HasSuffix(archive.Files[i].Name, ".yaml") {
			archive.Files[i].Data = append([]byte("# moved\n# down\n"), archive.Files[i].Data...)
		}
	}
	after, err := lint.Run(t.Context(), input(archive))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fingerprints(before), fingerprints(after)); diff != "" {
		t.Errorf("fingerprints (-before +after):\n%s", diff)
	}
	if before.Findings[0].Location.StartLine == after.Findings[0].Location.StartLine {
		t.Error("nothing moved")
	}
}

func fingerprints(r *report.LintReport) []string {
	var all []string
	seen := map[string]bool{}
	for _, f := range r.Findings {
		all = append(all, f.Fingerprint)
		if seen[f.Fingerprint] {
			all = append(all, "twice: "+f.Message)
		}
		seen[f.Fingerprint] = true
	}
	return all
}

func TestRunIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	archive, err := txtar.ParseFile("testdata/bindings.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lint.Run(ctx, input(archive)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

func TestFailed(t *testing.T) {
	tests := []struct {
		severity      report.Severity
		indeterminate int
		failsOn       []string
	}{
		{"", 0, nil},
		{"", 1, []string{"indeterminate"}},
		{report.SeverityNote, 0, []string{"note", "indeterminate"}},
		{report.SeverityWarning, 0, []string{"warning", "note", "indeterminate"}},
		{report.SeverityError, 0, []string{"error", "warning", "note", "indeterminate"}},
	}
	for _, test := range tests {
		r := &report.LintReport{Indeterminate: make([]report.Indeterminate, test.indeterminate)}
		if test.severity != "" {
			r.Findings = []report.LintFinding{{Severity: test.severity}}
			r.Summary.Findings = map[report.Severity]int{test.severity: 1}
		}
		for _, failOn := range report.LintFailOnValues() {
			if got, want := r.Failed(failOn), slices.Contains(test.failsOn, failOn); got != want {
				t.Errorf("%q with %d indeterminate, --fail-on %s: failed is %v, want %v", test.severity, test.indeterminate, failOn, got, want)
			}
		}
	}
}

// TestDocumentedRules compares the table of docs/lint.md with the rules in the code.
func TestDocumentedRules(t *testing.T) {
	data, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "| rule | severity | what is wrong |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	want := ""
	for _, r := range report.LintRules() {
		want += fmt.Sprintf("| `%s` | %s | %s |\n", r.ID, r.Severity, r.Title)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(table+"\n", "\n")); diff != "" {
		t.Errorf("the table of rules (-code +document):\n%s", diff)
	}
	for _, r := range report.LintRules() {
		if !strings.Contains(string(data), "\n### "+r.ID+"\n") {
			t.Errorf("docs/lint.md has no section on %s", r.ID)
		}
	}
}
