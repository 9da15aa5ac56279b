package scanner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// TestWorkloads scans the changes in testdata/workloads. want.txt has the expected report;
// config.yaml, if present, is the configuration. Files outside of base and head are on both sides.
func TestWorkloads(t *testing.T) {
	files, err := filepath.Glob("testdata/workloads/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in, want := workloadCase(t, archive)
			got := strings.Join(workloadLines(mustScan(t, in)), "\n") + "\n"
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("%s\nreport (-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

// workloadCase returns the input of a case and its want.txt.
func workloadCase(t *testing.T, archive *txtar.Archive) (in scanner.Input, want *txtar.File) {
	t.Helper()
	base, head := fstest.MapFS{}, fstest.MapFS{}
	compared := false
	for i := range archive.Files {
		f := &archive.Files[i]
		file := &fstest.MapFile{Data: f.Data, Mode: 0o644}
		switch dir, name, _ := strings.Cut(f.Name, "/"); dir {
		case "want.txt":
			want = f
		case "config.yaml":
			cfg, err := config.Parse(f.Name, f.Data)
			if err != nil {
				t.Fatal(err)
			}
			in.Config = *cfg
		case "base":
			base[name], compared = file, true
		case "head":
			head[name] = file
		default:
			base[f.Name], head[f.Name] = file, file
		}
	}
	in.Version, in.Head = "test", scanner.Tree{FS: head, Revision: report.Revision{Name: "head"}}
	if compared {
		in.Base = &scanner.Tree{FS: base, Revision: report.Revision{Name: "base"}}
	}
	return in, want
}

// saysOfWorkloads formats a report as lines, with generated objects and places.
func workloadLines(r *report.Report) []string {
	lines := []string{}
	for _, f := range r.Findings {
		about := named(f.Object)
		if f.Generated != nil {
			about += " -> " + named(f.Generated)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s\n  %s:%d %s\n  %s", f.Status, f.Action, f.Cause, f.Operation, about,
			f.Location.Path, f.Location.StartLine, f.Location.Field, f.Message))
	}
	for _, i := range r.Indeterminate {
		lines = append(lines, fmt.Sprintf("indeterminate %s %s: %s", i.What, named(i.Object), i.Why))
	}
	for _, d := range r.Diagnostics {
		lines = append(lines, d.Severity+" "+d.Message)
	}
	return append(lines, fmt.Sprintf("%d requests", r.Summary.Requests))
}

func named(o *report.Object) string {
	name := o.Name
	if o.GenerateName != "" {
		name = o.GenerateName + "*"
	}
	return o.Kind + " " + o.Namespace + "/" + name
}

// TestWorkloadFingerprints checks that a finding about a Pod has a different fingerprint than the
// same finding about its ReplicaSet, and keeps it when the template, and with it every generated
// name, changes.
func TestWorkloadFingerprints(t *testing.T) {
	fingerprints := func(tag string) map[string]string {
		found := map[string]string{}
		for _, name := range []string{"deployment", "each-kind", "pod-security"} {
			archive, err := txtar.ParseFile("testdata/workloads/" + name + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range archive.Files {
				archive.Files[i].Data = []byte(strings.ReplaceAll(string(f.Data), "nginx:1.26", "nginx:"+tag))
			}
			in, _ := workloadCase(t, archive)
			for _, f := range mustScan(t, in).Findings {
				kind := ""
				if f.Generated != nil {
					kind = f.Generated.Kind
				}
				found[kind+" "+string(f.Cause)+" "+f.Policy] = f.Fingerprint
			}
		}
		return found
	}
	one, two := fingerprints("1.26"), fingerprints("1.27")
	if diff := cmp.Diff(one, two); diff != "" {
		t.Errorf("fingerprints differ (-1.26 +1.27):\n%s", diff)
	}
	distinct := map[string]bool{}
	for _, f := range one {
		distinct[f] = true
	}
	if len(one) < 6 || len(distinct) != len(one) {
		t.Errorf("%d fingerprints of %d findings: %v", len(distinct), len(one), one)
	}
}

// TestExplainUnknownName: the explanation of a finding about a created object names it as the report
// does, also if its name is not known.
func TestExplainUnknownName(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/workloads/unknown-template.txtar")
	if err != nil {
		t.Fatal(err)
	}
	in, _ := workloadCase(t, archive)
	for _, f := range mustScan(t, in).Findings {
		explained, err := scanner.Explain(t.Context(), in, f.Fingerprint)
		if err != nil {
			t.Fatal(err)
		}
		if r := explained.Request; r.Kind != f.Generated.Kind || r.Name != "" || r.GenerateName != "web-" {
			t.Errorf("%s is explained as %+v", named(f.Generated), r)
		}
	}
}
