package scanner_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/scanner"
)

// TestRenderingLessOfADirectory scans each directory of the heads of these changes, and of the
// scenarios, without a base. Deciding objects are in other directories.
func TestRenderingLessOfADirectory(t *testing.T) {
	patterns := []string{"testdata/plan/*.txtar"}
	if testall.Enabled() {
		patterns = append(patterns, "testdata/scenarios/*.txtar")
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no cases: %v", err)
		}
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				archive, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				_, head := sidesOf(archive)
				dirs := map[string]bool{}
				for name := range head {
					dirs[path.Dir(name)] = true
				}
				for dir := range dirs {
					in := inputOf(nil, head)
					in.Base, in.Head.Under = nil, []string{dir}
					sameAsWhole(t, in)
				}
			})
		}
	}
}

// TestRenderingLessCases scans changes with deciding objects in distant roots. Lines `policies
// PATH` in the comment of an archive are the configuration.
func TestRenderingLessCases(t *testing.T) {
	files, err := filepath.Glob("testdata/plan/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := inputOf(sidesOf(archive))
			for line := range strings.Lines(string(archive.Comment)) {
				if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "policies "); ok {
					in.Config.Policies = append(in.Config.Policies, dir)
				}
			}
			sameAsWhole(t, in)
			if r, err := scanner.ScanWhole(t.Context(), in); err != nil || r.Summary.Requests == 0 {
				t.Errorf("the case shows nothing: %v, %d requests", err, r.Summary.Requests)
			}
		})
	}
}
