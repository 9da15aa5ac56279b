package scanner_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// TestMutations scans small repositories with MutatingAdmissionPolicies and a pull request each.
// The file want has a line for each finding, with its place and the history of its field, and for
// each gap.
func TestMutations(t *testing.T) {
	files, err := filepath.Glob("testdata/mutations/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			base, head := sidesOf(archive)
			want := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
			c, _, err := config.Load(base, head)
			if err != nil {
				t.Fatal(err)
			}
			in := scanner.Input{Config: c, Base: &scanner.Tree{FS: base}, Head: scanner.Tree{FS: head}, Version: "test"}
			got := mutationLines(mustScan(t, in))
			whole, err := scanner.ScanWhole(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(mutationLines(whole), got); diff != "" {
				t.Errorf("rendering everything says otherwise (-whole +got):\n%s", diff)
			}
			if *update {
				archive.Files[want].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(archive.Files[want].Data), got); diff != "" {
				t.Errorf("%s(-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

// mutationLines returns the lines for the file want.
func mutationLines(r *report.Report) string {
	var lines []string
	place := func(path string, line int) string { return fmt.Sprintf("%s:%d", path, line) }
	for i := range r.Findings {
		f := &r.Findings[i]
		line := fmt.Sprintf("%s %s %s %s %s: %s %s: %s", place(f.Location.Path, f.Location.StartLine), f.Status, f.Action, f.Operation, f.Object.Name, f.Cause, f.Policy, f.Message)
		var steps []string
		for _, s := range f.Location.Chain {
			steps = append(steps, place(s.Path, s.StartLine))
		}
		if len(steps) > 0 {
			line += " [" + strings.Join(steps, " -> ") + "]"
		}
		for _, l := range f.Location.Related {
			line += " (" + place(l.Path, l.StartLine) + " " + l.Message + ")"
		}
		lines = append(lines, line)
	}
	for _, g := range r.Indeterminate {
		lines = append(lines, fmt.Sprintf("%s unknown: %s", place(g.Location.Path, g.Location.StartLine), g.Why))
	}
	for _, d := range remarks(r) {
		lines = append(lines, d.Severity+": "+d.Message)
	}
	slices.Sort(lines)
	var out bytes.Buffer
	for _, line := range lines {
		fmt.Fprintln(&out, line)
	}
	return out.String()
}
