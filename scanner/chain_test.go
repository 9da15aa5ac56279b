package scanner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/report"
)

// TestChains checks the chain of each finding and its related lines. Archives are as for TestLines;
// `chains` is the expected result.
func TestChains(t *testing.T) {
	files, err := filepath.Glob("testdata/chains/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, report := scanArchive(t, file, archive, 0)
			got := ""
			for _, f := range report.Findings {
				got += describeChain(f)
			}
			i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "chains" })
			if i < 0 {
				t.Fatal("no file named chains")
			}
			if *update {
				archive.Files[i].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[i].Data), got); diff != "" {
				t.Errorf("chains (-want +got, rewrite with -update):\n%s", diff)
			}
		})
	}
}

func describeChain(f report.Finding) string {
	out := fmt.Sprintf("%s %s/%s of %s: %s\n  at %s", f.Operation, f.Object.Kind, f.Object.Name, f.Root, f.Message, describeLine(f.Location))
	for _, s := range f.Location.Chain {
		out += fmt.Sprintf("  %s:%d:%d %s of %s", s.Path, s.StartLine, s.StartColumn, s.Kind, s.Kustomization)
		for _, mark := range []struct {
			set  bool
			text string
		}{{s.Component, " (component)"}, {s.Absent, " (does not have it)"}} {
			if mark.set {
				out += mark.text
			}
		}
		out += "\n"
	}
	for _, l := range f.Location.Related {
		out += fmt.Sprintf("  %s: %s", l.Message, describeLine(l))
	}
	return out
}
