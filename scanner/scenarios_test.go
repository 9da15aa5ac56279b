package scanner_test

import (
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
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

var update = flag.Bool("update", false, "rewrite golden files")

// linesPending lists the findings whose line is not yet the expected one. The list may only shrink.
const linesPending = "testdata/lines-pending.txt"

// wanted is the want.yaml of a scenario, with all expected findings.
type wanted struct {
	Description string          `json:"description"`
	Findings    []wantedFinding `json:"findings"`
}

type wantedFinding struct {
	Operation  string         `json:"operation"`
	Object     report.Object  `json:"object"`
	Policy     string         `json:"policy"`
	Binding    string         `json:"binding"`
	Validation int            `json:"validation"`
	Action     report.Action  `json:"action"`
	Status     report.Status  `json:"status"`
	Message    string         `json:"message"`
	Root       string         `json:"root"`
	Location   wantedLocation `json:"location"`
}

type wantedLocation struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// TestScenarios scans small repositories with a pull request each. The expected verdicts were
// recorded from a real kube-apiserver.
func TestScenarios(t *testing.T) {
	pending := []string{}
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	findings, exact := 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			want, report := scanScenario(t, file, 0)
			got := gotFindings(report)
			findings += len(got)
			exact += countExact(t, report)
			if diff := cmp.Diff(withoutLines(want.Findings), withoutLines(got)); diff != "" {
				t.Errorf("%s\nfindings (-want +got):\n%s", want.Description, diff)
			} else {
				pending = append(pending, wrongLines(name, want.Findings, got)...)
			}
			for _, i := range report.Indeterminate {
				if refusal := refusedByFlux[name]; refusal == "" || !strings.Contains(i.Why, refusal) {
					t.Errorf("indeterminate: %s %v: %s", i.What, i.Object, i.Why)
				}
			}
		})
	}
	t.Logf("%d of %d findings are on another line than wanted; the lines of %d are exact", len(pending), findings, exact)
	checkPending(t, pending)
}

// refusedByFlux has the scenarios, recorded with PUT requests, with a request that the server
// refuses under server-side apply, and the reason.
var refusedByFlux = map[string]string{"legacy-kustomization-fields": "spec.strategy.rollingUpdate: Forbidden"}

// countExact counts the findings whose lines are proven: those of existing fields, and of fields
// that a patch removed.
func countExact(t *testing.T, report *report.Report) int {
	t.Helper()
	exact := 0
	for _, f := range report.Findings {
		text := describeLine(f.Location)
		key := f.Location.Field[strings.LastIndexByte(f.Location.Field, '.')+1:]
		switch {
		case f.Location.Exact:
			exact++
		case strings.Contains(text, key+":"):
			t.Errorf("%s has a line that is not exact: %s", f.Location.Field, text)
		}
	}
	return exact
}

func scanScenario(t *testing.T, file string, workers int) (wanted, *report.Report) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return scanArchive(t, file, archive, workers)
}

func scanArchive(t *testing.T, file string, archive *txtar.Archive, workers int) (wanted, *report.Report) {
	t.Helper()
	want, in := archiveInput(t, file, archive)
	in.Workers = workers
	return want, mustScan(t, in)
}

// archiveInput returns the change in an archive and the expected findings.
func archiveInput(t *testing.T, file string, archive *txtar.Archive) (want wanted, in scanner.Input) {
	t.Helper()
	base, head := fstest.MapFS{}, fstest.MapFS{}
	for _, f := range archive.Files {
		switch dir, name, _ := strings.Cut(f.Name, "/"); dir {
		case "base":
			base[name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
		case "head":
			head[name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
		case "both":
			base[name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
			head[name] = base[name]
		case "want.yaml":
			if err := yaml.UnmarshalStrict(f.Data, &want); err != nil {
				t.Fatalf("%s: want.yaml: %v", file, err)
			}
		}
	}
	return want, scanner.Input{
		Base:    &scanner.Tree{FS: base, Revision: report.Revision{Name: "base"}},
		Head:    scanner.Tree{FS: head, Revision: report.Revision{Name: "head"}},
		Version: "test",
	}
}

// gotFindings returns a report's findings in the form of want.yaml.
func gotFindings(report *report.Report) []wantedFinding {
	got := []wantedFinding{}
	for _, f := range report.Findings {
		w := wantedFinding{
			Operation: f.Operation, Policy: f.Policy, Binding: f.Binding, Validation: -1,
			Action: f.Action, Status: f.Status, Message: f.Message, Root: f.Root,
			Location: wantedLocation{Path: f.Location.Path, Line: f.Location.StartLine},
		}
		if f.Object != nil {
			w.Object = *f.Object
		}
		if f.Validation != nil {
			w.Validation = *f.Validation
		}
		got = append(got, w)
	}
	return got
}

// withoutLines sorts findings in an order that does not depend on locations.
func withoutLines(findings []wantedFinding) []wantedFinding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].Location = wantedLocation{}
	}
	slices.SortFunc(out, func(a, b wantedFinding) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	if len(out) == 0 {
		return nil
	}
	return out
}

// wrongLines returns the findings whose location differs.
func wrongLines(scenario string, want, got []wantedFinding) []string {
	wrong := []string{}
	for _, w := range want {
		if !slices.Contains(got, w) {
			wrong = append(wrong, fmt.Sprintf("%s: %s:%d", scenario, w.Location.Path, w.Location.Line))
		}
	}
	return wrong
}

// checkPending compares the findings on wrong lines with the known list.
func checkPending(t *testing.T, pending []string) {
	t.Helper()
	slices.Sort(pending)
	if *update {
		if err := os.WriteFile(linesPending, []byte(strings.Join(append(pending, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(linesPending)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(strings.ReplaceAll(string(data), ": ", ":"))
	for _, p := range pending {
		if !slices.Contains(known, strings.ReplaceAll(p, ": ", ":")) {
			t.Errorf("a location that was right is wrong now: %s", p)
		}
	}
	if len(pending) < len(known) {
		t.Errorf("%d locations are right that %s lists: rewrite it with -update", len(known)-len(pending), linesPending)
	}
}
