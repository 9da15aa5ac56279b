package scanner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
)

// tree returns the tree of a txtar archive.
func tree(archive string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return fsys
}

// input returns a change of two trees; base "" means no base.
func input(base, head string) scanner.Input {
	in := scanner.Input{Head: scanner.Tree{FS: tree(head), Revision: report.Revision{Name: "head"}}, Version: "test"}
	if base != "" {
		in.Base = &scanner.Tree{FS: tree(base), Revision: report.Revision{Name: "base"}}
	}
	return in
}

func mustScan(t *testing.T, in scanner.Input) *report.Report {
	t.Helper()
	report, err := scanner.Scan(context.Background(), in)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return report
}

// says formats a report as lines for comparison.
func reportLines(r *report.Report) []string {
	lines := []string{}
	for _, f := range r.Findings {
		object := ""
		if o := f.Object; o != nil {
			object = " " + f.Operation + " " + o.Kind + " " + o.Namespace + "/" + o.Name + o.GenerateName
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s%s: %s [%s]", f.Status, f.Action, f.Cause, f.Location.Path, object, f.Message, f.Policies))
	}
	for _, i := range r.Indeterminate {
		lines = append(lines, fmt.Sprintf("indeterminate %s %s: %s", i.What, i.Root, i.Why))
	}
	for _, d := range remarks(r) {
		lines = append(lines, fmt.Sprintf("%s %s: %s", d.Severity, d.Root, d.Message))
	}
	return lines
}

func wantReport(t *testing.T, r *report.Report, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, reportLines(r)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

const limitPolicy = `
-- policies/limit.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: [deployments]}
  validations:
  - expression: object == null || object.spec.replicas <= 3
    message: at most 3
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limit}
spec: {policyName: limit, validationActions: [Deny, Audit]}
`

// deployment returns a manifest of a Deployment.
func deployment(name string, replicas int) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: c, image: registry.example.com/c:1}]}
`, name, replicas)
}

func TestScanWithoutBaseCreatesEverything(t *testing.T) {
	r := mustScan(t, input("", limitPolicy+"-- app/a.yaml --\n"+deployment("a", 5)+"-- app/b.yaml --\n"+deployment("b", 2)))
	wantReport(t, r, "new Deny validation app/a.yaml CREATE Deployment default/a: at most 3 [inForce]")
	if r.Summary.Requests != 4 || r.Summary.Policies != 1 || r.Summary.Roots != (report.RootCounts{Rendered: 2}) {
		t.Errorf("summary: %+v", r.Summary)
	}
	if diff := cmp.Diff([]report.Action{"Deny", "Audit"}, r.Findings[0].Actions); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

func TestScanEqualTreesMakesNoRequest(t *testing.T) {
	both := limitPolicy + "-- app/a.yaml --\n" + deployment("a", 5)
	r := mustScan(t, input(both, both))
	wantReport(t, r)
	if r.Summary.Requests != 0 {
		t.Errorf("%d requests for no change", r.Summary.Requests)
	}
}

// A policy that the change breaks or repairs judges before and after the change as on an API
// server: not while it is refused.
func TestScanRefusedPolicies(t *testing.T) {
	broken := strings.ReplaceAll(limitPolicy, "object == null || object.spec.replicas <= 3", "object.spec.")
	const message = `ValidatingAdmissionPolicy.admissionregistration.k8s.io "limit" is invalid: spec.validations[0].expression: Invalid value: "object.spec.": compilation failed: ERROR: <input>:1:13: Syntax error: no viable alternative at input '.'` + "\n | object.spec.\n | ............^"
	app := "-- app/a.yaml --\n" + deployment("a", 5)
	t.Run("new", func(t *testing.T) {
		r := mustScan(t, input(app, broken+app))
		wantReport(t, r, "new Deny policy policies/limit.yaml CREATE ValidatingAdmissionPolicy /limit: "+message+" []")
		if loc := r.Findings[0].Location; loc.StartLine != 10 && loc.StartLine != 9 || loc.Field != "spec.validations[0].expression" {
			t.Errorf("location: %+v", loc)
		}
	})
	t.Run("unchanged", func(t *testing.T) {
		r := mustScan(t, input(broken+app, broken+"-- app/a.yaml --\n"+deployment("a", 6)))
		if len(r.Findings) != 0 || len(r.Indeterminate) != 1 || !strings.HasSuffix(r.Indeterminate[0].Why, message) {
			t.Errorf("report: %q", reportLines(r))
		}
	})
	t.Run("repaired", func(t *testing.T) {
		r := mustScan(t, input(broken+app, limitPolicy+app))
		wantReport(t, r,
			"new Deny validation app/a.yaml UPDATE Deployment default/a: at most 3 [proposed]",
			"resolved Deny policy policies/limit.yaml UPDATE ValidatingAdmissionPolicy /limit: "+message+" []")
	})
}

func TestScanSchema(t *testing.T) {
	bad := func(extra, selector string) string {
		return "-- app/a.yaml --\n" + strings.Replace(strings.Replace(deployment("a", 1), "spec:\n", "spec:\n"+extra, 1), "matchLabels: {app: a}", selector, 1)
	}
	good := bad("", "matchLabels: {app: a}")
	r := mustScan(t, input(good, bad("  replica: 3\n", "matchLabels: {app: a}")))
	wantReport(t, r, `new Warn schema app/a.yaml UPDATE Deployment default/a: unknown field "spec.replica" []`)
	if loc := r.Findings[0].Location; loc.StartLine != 5 || loc.Field != "spec.replica" {
		t.Errorf("location: %+v", loc)
	}
	r = mustScan(t, input(bad("  replica: 3\n", "matchLabels: {app: a}"), good))
	wantReport(t, r, `resolved Warn schema app/a.yaml UPDATE Deployment default/a: unknown field "spec.replica" []`)
	r = mustScan(t, input("", bad("", "matchLabels: {app: b}")))
	if len(r.Findings) != 1 || r.Findings[0].Cause != report.CauseSchema || r.Findings[0].Action != report.ActionDeny || r.Findings[0].Reason != "Invalid" {
		t.Errorf("report: %q", reportLines(r))
	}
}

// anyGroup is a policy that may match kinds of every group.
const anyGroup = `
-- policies/any.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: any.example.com}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  validations: [{expression: "object.metadata.name != 'bad'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: any}
spec: {policyName: any.example.com, validationActions: [Deny]}
`

func TestScanUnknownKind(t *testing.T) {
	r := mustScan(t, input("", "-- app/a.yaml --\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"+anyGroup))
	if len(r.Indeterminate) != 1 || r.Indeterminate[0].What != "object" || r.Indeterminate[0].Location.StartLine != 1 || r.Indeterminate[0].Object.Name != "w" {
		t.Errorf("report: %q", reportLines(r))
	}
}

// TestKindsWithoutADefinition checks that an object of an undefined kind is judged if no policy
// could match the kind, or if the kind is known by name, and that the report notes this.
func TestKindsWithoutADefinition(t *testing.T) {
	const widget = "-- app/a.yaml --\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
	release := func(name string) string {
		return "-- app/a.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: shop}\nspec: {interval: 5m}\n"
	}
	for name, test := range map[string]struct {
		head                          string
		findings, indeterminate, note int
	}{
		"no policy could match":              {widget, 0, 0, 1},
		"a policy may match":                 {widget + anyGroup, 0, 1, 0},
		"known by name":                      {release("good") + anyGroup, 0, 0, 0},
		"known by name and denied":           {release("bad") + anyGroup, 1, 0, 0},
		"a group of Kubernetes' own":         {strings.Replace(widget, "example.com", "apps", 1), 1, 0, 0},
		"a definition in the repository":     {widget + "-- crds/w.yaml --\n" + widgets, 0, 0, 0},
		"that reads what may have a default": {release("good") + strings.Replace(anyGroup, "object.metadata.name != 'bad'", "!has(object.spec.suspend)", 1), 0, 1, 0},
		"that reads what is written":         {release("good") + strings.Replace(anyGroup, "object.metadata.name != 'bad'", "object.spec.interval != '5m'", 1), 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustScan(t, input("", test.head))
			notes := 0
			for _, d := range r.Diagnostics {
				if strings.Contains(d.Message, "without a CustomResourceDefinition in the repository") {
					notes++
				}
			}
			r.Indeterminate = slices.DeleteFunc(r.Indeterminate, func(i report.Indeterminate) bool {
				return i.Why == "the objects of its chart are not judged" // of every changed HelmRelease
			})
			if len(r.Findings) != test.findings || len(r.Indeterminate) != test.indeterminate || notes != test.note {
				t.Errorf("%d findings, %d indeterminate, %d notes; want %d, %d, %d: %q", len(r.Findings), len(r.Indeterminate), notes, test.findings, test.indeterminate, test.note, reportLines(r))
			}
		})
	}
}

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

func TestScanAccountsForRoots(t *testing.T) {
	const broken = "-- app/kustomization.yaml --\nresources: [missing.yaml]\n"
	const remote = "-- app/kustomization.yaml --\nresources: [https://example.com/base]\n"
	works := "-- app/kustomization.yaml --\nresources: [a.yaml]\n-- app/a.yaml --\n" + deployment("a", 1)
	tests := []struct {
		name, base, head string
		want             report.RootCounts
		render           bool
	}{
		{"broken by the change", works, broken, report.RootCounts{Failed: 1}, true},
		{"broken and new", "-- README --\n", broken, report.RootCounts{Failed: 1}, true},
		{"broken without a base", "", broken, report.RootCounts{Failed: 1}, true},
		{"broken before", broken, broken + "namePrefix: x-\n", report.RootCounts{FailedBefore: 1}, false},
		{"not touched", works, works + "-- x --\n", report.RootCounts{Untouched: 1}, false},
		{"refused", works, remote, report.RootCounts{Indeterminate: 1, Lost: 1}, false},
		{"refused before", remote, works, report.RootCounts{Rendered: 1}, false},
		{"repaired", broken, works, report.RootCounts{Rendered: 1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := mustScan(t, input(tt.base, tt.head))
			if r.Summary.Roots != tt.want {
				t.Errorf("roots: %+v, want %+v\n%q", r.Summary.Roots, tt.want, reportLines(r))
			}
			if got := len(r.Findings) == 1 && r.Findings[0].Cause == report.CauseRender; got != tt.render {
				t.Errorf("render finding %v, want %v: %q", got, tt.render, reportLines(r))
			}
			if len(r.Findings)+len(r.Indeterminate)+len(r.Diagnostics)+r.Summary.Roots.Untouched == 0 {
				t.Error("nothing was said")
			}
		})
	}
}

// A root that is gone deletes its objects; one that fails does not.
func TestScanRemovedRoot(t *testing.T) {
	deny := strings.Replace(limitPolicy, "object == null || object.spec.replicas <= 3", "request.operation != 'DELETE'", 1)
	app := "-- app/kustomization.yaml --\nresources: [a.yaml]\n-- app/a.yaml --\n" + deployment("a", 1)
	wantReport(t, mustScan(t, input(deny+app, deny)),
		"new Deny validation app/a.yaml DELETE Deployment default/a: at most 3 [inForce]")
	r := mustScan(t, input(deny+app, deny+"-- app/kustomization.yaml --\nresources: [gone.yaml]\n"))
	if len(r.Findings) != 1 || r.Findings[0].Cause != report.CauseRender {
		t.Errorf("report: %q", reportLines(r))
	}
}

// namespacePolicy denies objects in namespaces labelled env: prod.
var namespacePolicy = strings.Replace(strings.Replace(limitPolicy, "matchConstraints:\n", "matchConstraints:\n    namespaceSelector: {matchLabels: {env: prod}}\n", 1),
	"object == null || object.spec.replicas <= 3", "object == null", 1)

func namespace(env string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {env: " + env + "}}\n"
}

func TestScanAmbiguousLookUps(t *testing.T) {
	app := "-- app/a.yaml --\n" + deployment("a", 1)
	r := mustScan(t, input("", namespacePolicy+app+"-- one/ns.yaml --\n"+namespace("test")+"-- two/ns.yaml --\n"+namespace("prod")))
	wantReport(t, r, "warning : Namespace/default is not the same in the roots one and two; for other roots it is the one of one: name the roots that belong together under targets in .preadmit.yaml")
	r = mustScan(t, input("", namespacePolicy+app+"-- app/ns.yaml --\n"+namespace("prod")+"-- two/ns.yaml --\n"+namespace("test")))
	wantReport(t, r, "new Deny validation app/a.yaml CREATE Deployment default/a: at most 3 [inForce]")
}

// If other roots define a policy differently, every version judges, except that a root's own
// version replaces the others.
func TestScanAmbiguousPolicies(t *testing.T) {
	lax := strings.NewReplacer("policies/", "lax/", "<= 3", "<= 9", "at most 3", "at most 9").Replace(limitPolicy)
	apps := "-- app/a.yaml --\n" + deployment("a", 5) + "-- app/b.yaml --\n" + deployment("b", 10) + "-- lax/c.yaml --\n" + deployment("c", 5)
	r := mustScan(t, input("", limitPolicy+lax+apps))
	wantReport(t, r,
		"new Deny validation app/a.yaml CREATE Deployment default/a: at most 3 [inForce]",
		"new Deny validation app/b.yaml CREATE Deployment default/b: at most 3 [inForce]",
		"new Deny validation app/b.yaml CREATE Deployment default/b: at most 9 [inForce]",
		"warning : ValidatingAdmissionPolicy.admissionregistration.k8s.io/limit is not the same in the roots lax and policies; each version judges the roots that do not define it themselves: name the roots that belong together under targets in .preadmit.yaml")
}

func TestScanTargets(t *testing.T) {
	lax := strings.NewReplacer("policies/", "lax/", "<= 3", "<= 9", "at most 3", "at most 9").Replace(limitPolicy)
	in := input("", limitPolicy+lax+"-- app/a.yaml --\n"+deployment("a", 5)+"-- other/b.yaml --\n"+deployment("b", 5))
	in.Config.Targets = []config.Target{{Name: "test", Roots: []string{"app"}, Policies: []string{"lax"}}}
	wantReport(t, mustScan(t, in), "warning : 2 roots are not judged, as they belong to no target of .preadmit.yaml: other, policies")
	in.Config.Targets = append(in.Config.Targets, config.Target{Name: "prod", Roots: []string{"app", "other"}, Policies: []string{"policies/limit.yaml"}})
	wantReport(t, mustScan(t, in),
		"new Deny validation app/a.yaml CREATE Deployment default/a: at most 3 [inForce]",
		"new Deny validation other/b.yaml CREATE Deployment default/b: at most 3 [inForce]",
		"warning : 1 root is not judged, as it belongs to no target of .preadmit.yaml: policies")
}

func TestScanRestrictions(t *testing.T) {
	in := input("", limitPolicy+"-- app/a.yaml --\n"+deployment("a", 5)+"-- other/b.yaml --\n"+deployment("b", 5))
	in.Head.Under = []string{"app"}
	wantReport(t, mustScan(t, in), "new Deny validation app/a.yaml CREATE Deployment default/a: at most 3 [inForce]")
	in.Head.Under = nil
	in.Config.Roots = []string{"oth*", "nothing/**"}
	wantReport(t, mustScan(t, in),
		"new Deny validation other/b.yaml CREATE Deployment default/b: at most 3 [inForce]",
		`warning : glob "nothing/**" matches no root`)
}

func TestScanExtras(t *testing.T) {
	policies := strings.Replace(limitPolicy, "policies/limit.yaml", "limit.yaml", 1)
	in := input("", "-- app/a.yaml --\n"+deployment("a", 5))
	in.Extra = []scanner.Extra{{Name: "../given/limit.yaml", FS: tree(policies)}}
	wantReport(t, mustScan(t, in), "new Deny validation app/a.yaml CREATE Deployment default/a: at most 3 [inForce]")
	in.Extra[0].FS = tree(strings.Replace(policies, "<= 3", "<=", 1))
	r := mustScan(t, in)
	if len(r.Findings) != 1 || r.Findings[0].Cause != report.CausePolicy || r.Findings[0].Location.Path != "../given/limit.yaml" {
		t.Errorf("report: %q", reportLines(r))
	}
	var wrong *scanner.InputError
	in.Extra[0].FS = tree("-- README --\nnothing\n")
	if _, err := scanner.Scan(context.Background(), in); !errors.As(err, &wrong) || wrong.What != "../given/limit.yaml" {
		t.Errorf("error %v", err)
	}
}

func TestScanInputErrors(t *testing.T) {
	for _, cfg := range []config.Config{
		{Roots: []string{"apps/["}},
		{Policies: []string{"nowhere"}},
		{Targets: []config.Target{{Name: "t", Roots: []string{"**"}, Context: []string{"nowhere.yaml"}}}},
	} {
		in := input("", "-- app/a.yaml --\n"+deployment("a", 5))
		in.Config = cfg
		var wrong *scanner.InputError
		if _, err := scanner.Scan(context.Background(), in); !errors.As(err, &wrong) {
			t.Errorf("%+v: error %v", cfg, err)
		}
	}
}

func TestScanIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := scanner.Scan(ctx, input("", "-- app/a.yaml --\n"+deployment("a", 5))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Equal scans give equal reports, whatever the parallelism.
func TestScanIsDeterministic(t *testing.T) {
	files, _ := filepath.Glob("testdata/scenarios/*.txtar")
	for _, file := range files {
		_, one := scanScenario(t, file, 1)
		_, four := scanScenario(t, file, 4)
		if a, b := reportJSON(t, one), reportJSON(t, four); a != b {
			t.Errorf("%s: reports differ:\n%s", file, cmp.Diff(a, b))
		}
	}
}

// reportJSON returns the JSON of a report without durations.
func reportJSON(t *testing.T, r *report.Report) string {
	t.Helper()
	r.Summary.Durations = report.Durations{}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// TestScanReport checks every field of a report.
func TestScanReport(t *testing.T) {
	data, err := os.ReadFile("testdata/report.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := tree(string(data))
	base, head := sub(t, all, "base"), sub(t, all, "head")
	got := reportJSON(t, mustScan(t, scanner.Input{
		Base: &scanner.Tree{FS: base, Revision: report.Revision{Name: "main"}},
		Head: scanner.Tree{FS: head, Revision: report.Revision{Name: "change"}}, Version: "test",
	}))
	const golden = "testdata/report.json"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update accepts):\n%s", golden, diff)
	}
}

func sub(t *testing.T, fsys fs.FS, dir string) fs.FS {
	t.Helper()
	s, err := fs.Sub(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
