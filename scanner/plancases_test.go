package scanner_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestRenderingLessCases scans changes in which something far away decides. In an
// archive, lines `policies PATH` of the comment are the configuration's.
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
