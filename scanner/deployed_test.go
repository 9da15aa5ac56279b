package scanner_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// deployed is the want.yaml of a repository with a deployer and a pull request: all expected findings with
// their lines, all gaps, and the number of requests.
type deployed struct {
	Description string          `json:"description"`
	Requests    int             `json:"requests"`
	Findings    []wantedFinding `json:"findings,omitempty"`
	// Exact are the lines of findings that are exact; nil if they are not checked, [] for none.
	Exact         []string    `json:"exact,omitempty"`
	Indeterminate []wantedGap `json:"indeterminate,omitempty"`
	Remarks       []string    `json:"remarks,omitempty"`
	// Charts are the charts with a changed version, with the changed objects, and whether it is known that
	// policies read none of the changes.
	Charts []string `json:"charts,omitempty"`
}

type wantedGap struct {
	What      string         `json:"what"`
	Object    string         `json:"object,omitempty"`
	Policy    string         `json:"policy,omitempty"`
	Root      string         `json:"root"`
	Why       string         `json:"why"`
	Untouched bool           `json:"untouched,omitempty"`
	Location  wantedLocation `json:"location"`
}

// TestDeployed scans small repositories of Flux with a pull request each, and checks that the objects are
// judged as Flux applies them.
func TestDeployed(t *testing.T) {
	files, err := filepath.Glob("testdata/deployed/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	for _, file := range testall.Sample(files, 155) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			scanDeployed(t, file, archive)
		})
	}
}

func scanDeployed(t *testing.T, file string, archive *txtar.Archive) {
	var want deployed
	base, head := sidesOf(archive)
	at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want.yaml" })
	if at >= 0 {
		if err := yaml.UnmarshalStrict(archive.Files[at].Data, &want); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := config.Load(base, head)
	if err != nil {
		t.Fatal(err)
	}
	charts := packCharts(t, archive)
	in := scanner.Input{Config: c, Base: &scanner.Tree{FS: charts.over(base)}, Head: scanner.Tree{FS: charts.over(head)}, Version: "test"}
	r := mustScan(t, in)
	whole, err := scanner.ScanWhole(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Charts {
		if c.Unread && slices.ContainsFunc(r.Findings, func(f report.Finding) bool {
			return f.Status != report.StatusExisting && f.Policy != ""
		}) {
			t.Errorf("no policy reads what %s %s changes in %s, and there are findings in any unit that are new or resolved", c.Chart, c.To, c.Root)
		}
	}
	got := gotDeployed(r)
	got.Description = want.Description
	if want.Exact == nil {
		got.Exact = nil
	}
	if diff := gocmp.Diff(gotDeployed(whole).Findings, got.Findings); diff != "" {
		t.Errorf("rendering everything says otherwise (-whole +got):\n%s", diff)
	}
	if *update && at >= 0 {
		data, err := yaml.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		archive.Files[at].Data = data
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n(-want +got):\n%s", want.Description, diff)
	}
}

func gotDeployed(r *report.Report) deployed {
	got := deployed{Requests: r.Summary.Requests}
	if f := gotFindings(r); len(f) > 0 {
		got.Findings = f
	}
	got.Exact = []string{}
	for _, f := range r.Findings {
		if f.Location.Exact {
			got.Exact = append(got.Exact, fmt.Sprintf("%s:%d", f.Location.Path, f.Location.StartLine))
		}
	}
	slices.Sort(got.Exact)
	for _, i := range r.Indeterminate {
		g := wantedGap{What: i.What, Policy: i.Policy, Root: i.Root, Why: i.Why, Untouched: i.Untouched}
		if i.Object != nil {
			g.Object = fmt.Sprintf("%s %s/%s", i.Object.Kind, i.Object.Namespace, i.Object.Name)
		}
		if i.Location != nil {
			g.Location = wantedLocation{Path: i.Location.Path, Line: i.Location.StartLine}
		}
		got.Indeterminate = append(got.Indeterminate, g)
	}
	for _, d := range remarks(r) {
		got.Remarks = append(got.Remarks, strings.TrimSpace(d.Severity+" "+d.Root)+": "+d.Message)
	}
	for _, c := range r.Charts {
		text := fmt.Sprintf("%s: %s %s -> %s at %s:%d", c.Root, c.Chart, c.From, c.To, c.Location.Path, c.Location.StartLine)
		for _, o := range c.Objects {
			text += fmt.Sprintf("; %s %s %s/%s", o.Change, o.Object.Kind, o.Object.Namespace, o.Object.Name)
		}
		if c.Unread {
			text += "; unread"
		}
		got.Charts = append(got.Charts, text)
	}
	slices.SortFunc(got.Findings, func(a, b wantedFinding) int {
		return cmp.Or(cmp.Compare(a.Location.Path, b.Location.Path), cmp.Compare(a.Location.Line, b.Location.Line), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return got
}

// TestDeployedIsSorted checks that files which are equal in both trees are written once, so that scenarios
// stay readable.
func TestDeployedIsSorted(t *testing.T) {
	files, err := filepath.Glob("testdata/deployed/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sides := map[string][]byte{}
		for _, f := range archive.Files {
			dir, name, _ := strings.Cut(f.Name, "/")
			if other, ok := sides[name]; ok && dir != "want.yaml" && bytes.Equal(other, f.Data) {
				t.Errorf("%s: %s is the same in both trees", file, name)
			}
			sides[name] = f.Data
		}
	}
}
