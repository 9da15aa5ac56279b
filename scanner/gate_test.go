package scanner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner"
)

// A change must not exclude anything from judging: what was judged at base is judged at head, or
// the scan is incomplete.

const gatedApp = `
-- policies/limit.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations: [{expression: "object.data.size == '1'", message: too many}]
-- policies/binding.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limit}
spec: {policyName: limit, validationActions: [Deny]}
-- app/cm.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {size: "1"}}
`

func changed(archive string) string {
	return strings.Replace(archive, `{size: "1"}`, `{size: "50"}`, 1)
}

const kustomized = gatedApp + `
-- app/kustomization.yaml --
resources: [cm.yaml]
`

func TestARootCannotBeHidden(t *testing.T) {
	tests := map[string]struct{ base, head string }{
		"by a kustomization that uses it": {kustomized, changed(kustomized) + `
-- zz/kustomization.yaml --
resources: [../app]
patches:
- target: {kind: ConfigMap}
  patch: |-
    - {op: replace, path: /data/size, value: "1"}
`},
		"by becoming a component": {kustomized, strings.Replace(changed(kustomized), "resources: [cm", "kind: Component\nresources: [cm", 1)},
		"by a kustomization that reads one of its files": {gatedApp, changed(gatedApp) + `
-- zz/kustomization.yaml --
secretGenerator: [{name: g, files: [../app/cm.yaml]}]
`},
		"by a kustomization that deletes a new file's object": {gatedApp, gatedApp + `
-- app/new.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {size: "50"}}
-- zz/kustomization.yaml --
resources: [../app/new.yaml]
patches: [{patch: '{$patch: delete, apiVersion: v1, kind: ConfigMap, metadata: {name: b}}'}]
`},
	}
	for name, test := range tests {
		r := mustScan(t, input(test.base, test.head))
		if len(r.Findings) != 1 || r.Findings[0].Root != "app" || r.Findings[0].Message != "too many" {
			t.Errorf("hidden %s: %q", name, reportLines(r))
		}
	}
}

func TestARemoteBaseDoesNotTurnTheGateOff(t *testing.T) {
	head := strings.Replace(changed(kustomized), "[cm.yaml]", "[cm.yaml, 'https://example.com/x.yaml']", 1)
	r := mustScan(t, input(kustomized, head))
	if got := r.Verdict("", false); got != "incomplete" {
		t.Errorf("verdict %s: %q", got, reportLines(r))
	}
}

func TestAJobIsPatchedNotPut(t *testing.T) {
	const job = `
-- app/job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx}]}}}
`
	wantReport(t, mustScan(t, input(job, strings.Replace(job, "spec: {template", "spec: {suspend: true, template", 1))))
	deny := strings.NewReplacer(`apiGroups: [""]`, "apiGroups: [batch]", "configmaps", "jobs", "object.data.size == '1'", "has(object.spec.ttlSecondsAfterFinished)").
		Replace(strings.Split(gatedApp, "-- app/cm.yaml --")[0])
	r := mustScan(t, input(job, job+deny))
	if len(r.Findings) != 1 || r.Findings[0].Message != "too many" {
		t.Errorf("a new policy on an unchanged Job: %q", reportLines(r))
	}
}

// TestABaseThatNeverWas checks that an object which does not decode at base was never on the
// server, so that the head creates it.
func TestABaseThatNeverWas(t *testing.T) {
	r := mustScan(t, input(strings.Replace(gatedApp, `{size: "1"}`, `{size: 1}`, 1), changed(gatedApp)))
	if len(r.Findings) == 0 || r.Findings[0].Message != "too many" || r.Findings[0].Status != "new" {
		t.Errorf("report %q", reportLines(r))
	}
}

func TestWhatTheServerRefusesToDelete(t *testing.T) {
	const namespaces = `
-- ns/ns.yaml --
{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}
`
	r := mustScan(t, input(gatedApp+namespaces, gatedApp))
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, "this namespace may not be deleted") {
		t.Errorf("report %q", reportLines(r))
	}
}

func TestAMistypedSelectionIsRefused(t *testing.T) {
	in := input("", kustomized)
	in.Config.Roots = []string{"ap/**"}
	_, err := scanner.Scan(context.Background(), in)
	var mistake *scanner.InputError
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), `["ap/**"] match no root`) {
		t.Errorf("error %v", err)
	}
}

// TestNewManifestsCannotBeHidden checks that a change cannot exclude a new, denied object from
// judging through roots that use it.
func TestNewManifestsCannotBeHidden(t *testing.T) {
	const (
		manifest  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {size: \"50\"}}\n"
		plain     = "\n-- app/new/p.yaml --\n" + manifest
		kustomize = plain + "-- app/new/kustomization.yaml --\nresources: [p.yaml]\n"
		deletes   = "patches: [{patch: '{$patch: delete, apiVersion: v1, kind: ConfigMap, metadata: {name: b}}'}]\n"
	)
	elsewhere := func(archive string) string { return strings.ReplaceAll(archive, "app/new", "team/new") }
	for name, test := range map[string]struct {
		base, change string
		roots        []string
	}{
		"by a Component that nothing uses": {change: elsewhere(kustomize) + "-- c/kustomization.yaml --\n{kind: Component, resources: [../team/new]}\n"},
		"by a Component that reads it":     {change: elsewhere(plain) + "-- c/kustomization.yaml --\n{kind: Component, resources: [../team/new/p.yaml]}\n"},
		"by a kustomization that is not selected": {
			change: elsewhere(kustomize) + "-- z/kustomization.yaml --\nresources: [../team/new]\n", roots: []string{"app/**", "team/**"},
		},
		"by one that is not selected and reads it": {
			change: elsewhere(plain) + "-- z/kustomization.yaml --\nresources: [../team/new/p.yaml]\n", roots: []string{"app/**", "team/**"},
		},
		"by a kustomization that deletes it": {change: plain + "-- z/kustomization.yaml --\nresources: [../app/new/p.yaml]\n" + deletes},
		"by one that uses its kustomization": {change: kustomize + "-- z/kustomization.yaml --\nresources: [../app/new]\n" + deletes},
		"where old ones are used from outside": {
			base:   "-- app/new/old.yaml --\n" + strings.Replace(manifest, "name: b", "name: old", 1) + "-- app/new/unused.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: u}, data: {size: \"1\"}}\n-- y/kustomization.yaml --\nresources: [../app/new/old.yaml]\n",
			change: plain + "-- z/kustomization.yaml --\nresources: [../app/new/p.yaml]\n" + deletes,
		},
	} {
		in := input(gatedApp+test.base, gatedApp+test.base+test.change)
		in.Config.Roots = test.roots
		r := mustScan(t, in)
		if len(r.Findings) != 1 || !strings.HasSuffix(r.Findings[0].Root, "/new") || r.Findings[0].Object.Name != "b" {
			t.Errorf("hidden %s: %q", name, reportLines(r))
		}
		for _, i := range r.Indeterminate {
			if i.What != string(render.GapComponent) {
				t.Errorf("hidden %s: %+v is judged", name, i)
			}
		}
	}
}

// TestWhatAPlainRootUsesIsJudgedOnce checks that a directory used from inside of its own root is
// judged once.
func TestWhatAPlainRootUsesIsJudgedOnce(t *testing.T) {
	r := mustScan(t, input(gatedApp, gatedApp+`
-- app/new/p.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {size: "50"}}
-- app/z/kustomization.yaml --
resources: [../new/p.yaml]
`))
	if len(r.Findings) != 1 || r.Findings[0].Root != "app/z" {
		t.Errorf("report %q", reportLines(r))
	}
}

// TestUnusedComponentIsReported checks that an unused Component is reported if the change touches
// anything it uses.
func TestUnusedComponentIsReported(t *testing.T) {
	const component = gatedApp + `
-- c/kustomization.yaml --
{kind: Component, patches: [{path: ../patches/p.yaml}]}
-- patches/p.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {size: "50"}}
`
	const told = " a Component that no root uses, so nothing renders it"
	used := component + "-- app/kustomization.yaml --\n{components: [../c], resources: [cm.yaml]}\n"
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"used":             {component, used, nil},
		"gone":             {component, gatedApp, []string{"was" + told}},
		"new":              {gatedApp, component, []string{"is" + told}},
		"the same":         {component, component + "-- other/cm.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {size: \"1\"}}\n", []string{"is" + told + ", untouched"}},
		"patched by other": {component, strings.Replace(component, `"50"`, `"60"`, 1), []string{"is" + told}},
	} {
		var got []string
		for _, i := range mustScan(t, input(test.base, test.head)).Indeterminate {
			why := i.Why
			if i.Untouched {
				why += ", untouched"
			}
			got = append(got, why)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestAPlainRootThatBecomesAKustomization checks that manifests which the new kustomization omits
// are reported if they are new or changed, since a tool may apply the files.
func TestAPlainRootThatBecomesAKustomization(t *testing.T) {
	base := gatedApp + `
-- app/changed.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {size: "1"}}
-- app/same.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: s}, data: {size: "1"}}
`
	head := strings.Replace(base, "name: c}, data: {size: \"1\"", "name: c}, data: {size: \"2\"", 1) + `-- app/new.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {size: "50"}}
-- app/values.yaml --
size: 1
-- app/below/p.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: p}, data: {size: "1"}}
-- app/sub/kustomization.yaml --
resources: [../cm.yaml]
-- app/kustomization.yaml --
resources: [sub, below/p.yaml]
configMapGenerator: [{name: g, files: [new.yaml], literals: [size=1]}]
`
	var told []string
	for _, i := range mustScan(t, input(base, head)).Indeterminate {
		told = append(told, i.What+" "+i.Root+" "+i.Location.Path)
	}
	if want := []string{"manifest app app/changed.yaml", "manifest app app/new.yaml"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
}
