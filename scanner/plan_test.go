package scanner_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// sameAsWhole compares a scan of a change with a scan that renders every root: the omitted roots
// must not matter. It returns their number.
func sameAsWhole(t *testing.T, in scanner.Input) int {
	t.Helper()
	whole, err := scanner.ScanWhole(context.Background(), in)
	if err != nil {
		t.Fatalf("scan everything: %v", err)
	}
	got, err := scanner.Scan(context.Background(), in)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	if diff := planDiff(whole, got); diff != "" {
		t.Errorf("rendering less says something else (-everything +what matters):\n%s", diff)
	}
	return got.Summary.Roots.Untouched
}

// planDiff compares the reports of two scans, except for counts of roots, durations, and notes
// about roots that render neither before nor after the change.
func planDiff(whole, got *report.Report) string {
	compared := func(r *report.Report) *report.Report {
		c := *r
		c.Summary.Roots, c.Summary.Durations = report.RootCounts{}, report.Durations{}
		c.Diagnostics = slices.DeleteFunc(slices.Clone(r.Diagnostics), func(d report.Diagnostic) bool {
			return d.Severity == "note" && (strings.HasPrefix(d.Message, "this root does not render, as it did not before") ||
				strings.HasPrefix(d.Message, "this root is not judged and does not render"))
		})
		return &c
	}
	return cmp.Diff(compared(whole), compared(got))
}

// TestRenderingLessReportsTheSame splits the scenarios: each file of a change alone is a change, which
// leaves most roots untouched.
func TestRenderingLessReportsTheSame(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	untouched := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			base, head := sidesOf(archive)
			untouched += sameAsWhole(t, inputOf(base, head))
			for name := range union(base, head) {
				if data, ok := head[name]; !ok || base[name] == nil || string(base[name].Data) != string(data.Data) {
					untouched += sameAsWhole(t, inputOf(base, with(base, name, data)))
				}
			}
		})
	}
	if untouched == 0 {
		t.Error("no root was ever left out")
	}
}

// sidesOf returns the trees of an archive: base/ and head/, with the files that are in both.
func sidesOf(archive *txtar.Archive) (base, head fstest.MapFS) {
	base, head = fstest.MapFS{}, fstest.MapFS{}
	for _, f := range archive.Files {
		dir, name, _ := strings.Cut(f.Name, "/")
		file := &fstest.MapFile{Data: f.Data, Mode: 0o644}
		if dir == "base" || dir == "both" {
			base[name] = file
		}
		if dir == "head" || dir == "both" {
			head[name] = file
		}
	}
	return base, head
}

func inputOf(base, head fstest.MapFS) scanner.Input {
	return scanner.Input{
		Base: &scanner.Tree{FS: base, Revision: report.Revision{Name: "base"}},
		Head: scanner.Tree{FS: head, Revision: report.Revision{Name: "head"}},
	}
}

func union(a, b fstest.MapFS) map[string]bool {
	names := map[string]bool{}
	for _, files := range []fstest.MapFS{a, b} {
		for name := range files {
			names[name] = true
		}
	}
	return names
}

// with returns a copy of a tree with another file, or without it.
func with(files fstest.MapFS, name string, file *fstest.MapFile) fstest.MapFS {
	out := fstest.MapFS{}
	for n, f := range files {
		out[n] = f
	}
	if delete(out, name); file != nil {
		out[name] = file
	}
	return out
}
