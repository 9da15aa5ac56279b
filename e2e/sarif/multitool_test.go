// Package sarif checks all SARIF that preadmit writes with the SARIF Multitool.
package sarif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
)

// multitool is the SARIF Multitool, which `make sarif` fetches.
const multitool = "../../bin/sarif-multitool/package/Sarif.Multitool"

// goldens are the golden reports.
const goldens = "../../report/format/testdata"

// TestMultitoolFindsNothing checks the SARIF of golden reports, of lint and of scenarios
// with the rules of the SARIF Multitool, including those for GitHub. The results are in
// its log; its exit code does not depend on them.
func TestMultitoolFindsNothing(t *testing.T) {
	tool := os.Getenv("PREADMIT_SARIF_MULTITOOL")
	if tool == "" {
		tool, _ = filepath.Abs(multitool)
	}
	if _, err := os.Stat(tool); err != nil {
		t.Skip("the SARIF Multitool is not here: make sarif fetches it and runs this test")
	}
	dir := t.TempDir()
	files := writeAllSARIF(t, dir)
	found, scanned := validated(t, tool, files)
	if len(scanned) != len(files) {
		t.Errorf("the tool looked at %d files, want %d", len(scanned), len(files))
	}
	for _, f := range found {
		t.Errorf("%s", f)
	}
	t.Logf("%d files, %d findings", len(scanned), len(found))

	// Check that it can find mistakes at all.
	broken := filepath.Join(dir, "broken.sarif")
	text := strings.Replace(string(saved(t, filepath.Join(goldens, "one.json"))), `"startLine": 7`, `"startLine": 70`, 1)
	if err := os.WriteFile(broken, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if found, _ := validated(t, tool, []string{broken}); len(found) == 0 {
		t.Error("the tool finds nothing wrong with a region that ends before it begins")
	}
}

// writeAllSARIF writes the files to check.
func writeAllSARIF(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	save := func(name string, data []byte) {
		file := filepath.Join(dir, name+".sarif")
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for kind, pattern := range map[string]string{"report": "*.json", "lint": "lint/*.json"} {
		found, err := filepath.Glob(filepath.Join(goldens, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no golden reports: %v", err)
		}
		for _, file := range found {
			if strings.HasSuffix(file, ".out.json") {
				continue
			}
			save(kind+"-"+filepath.Base(file), saved(t, file))
		}
	}
	scenarios, err := filepath.Glob("../../scanner/testdata/scenarios/*.txtar")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range scenarios {
		var b bytes.Buffer
		if err := format.Write(&b, "sarif", scenario(t, file), format.Options{}); err != nil {
			t.Fatal(err)
		}
		save("scenario-"+filepath.Base(file), b.Bytes())
	}
	return files
}

// saved returns the SARIF of a saved report of scan or lint.
func saved(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := report.Open(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var b bytes.Buffer
	if err := format.WriteSaved(&b, "sarif", r, format.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// scenario returns the report of one of the scanner's scenarios.
func scenario(t *testing.T, file string) *report.Report {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]fstest.MapFS{"base": {}, "head": {}}
	for _, f := range archive.Files {
		dir, name, _ := strings.Cut(f.Name, "/")
		for side, tree := range trees {
			if dir == side || dir == "both" {
				tree[name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
			}
		}
	}
	r, err := scanner.Scan(t.Context(), scanner.Input{
		Base:    &scanner.Tree{FS: trees["base"], Revision: report.Revision{Name: "base"}},
		Head:    scanner.Tree{FS: trees["head"], Revision: report.Revision{Name: "head"}},
		Version: "v0.1.0",
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// validated returns the tool's results at the levels warning and error, and the files it
// checked. Its notes are only advice on other ways to write the same.
func validated(t *testing.T, tool string, files []string) (found, scanned []string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "log.sarif")
	args := append([]string{"validate", "--rule-kind", "Sarif;GHAS", "--level", "Error;Warning", "--output", out}, files...)
	command := exec.CommandContext(t.Context(), tool, args...)
	command.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1", "DOTNET_BUNDLE_EXTRACT_BASE_DIR="+t.TempDir())
	console, _ := command.CombinedOutput()
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("no log: %v\n%s", err, console)
	}
	var log struct {
		Runs []struct {
			Invocations []struct{ ExecutionSuccessful bool }
			Artifacts   []struct{ Location struct{ URI string } }
			Results     []struct {
				RuleID, Level string
				Message       struct {
					ID        string
					Arguments []string
				}
				Locations []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal(data, &log); err != nil || len(log.Runs) != 1 || !log.Runs[0].Invocations[0].ExecutionSuccessful {
		t.Fatalf("the tool did not come to an end: %v\n%s", err, console)
	}
	for _, r := range log.Runs[0].Results {
		found = append(found, fmt.Sprintf("%s: %s %s %s %q", filepath.Base(r.Locations[0].PhysicalLocation.ArtifactLocation.URI), r.Level, r.RuleID, r.Message.ID, r.Message.Arguments))
	}
	for _, a := range log.Runs[0].Artifacts {
		scanned = append(scanned, a.Location.URI)
	}
	if n := strings.TrimSpace(string(console)); len(scanned) == 0 && strings.Contains(n, fmt.Sprintf("%d files scanned", len(files))) {
		scanned = files
	}
	return found, scanned
}
