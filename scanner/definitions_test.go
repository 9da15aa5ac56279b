package scanner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/preadmit/preadmit/scanner"
)

// foos returns a root that defines the kind Foo with one version and a field.
func foos(root, version, field string) string {
	return "-- " + root + `/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com, labels: {root: ` + root + `}}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: foos, kind: Foo}
  versions:
  - {name: ` + version + `, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {` + field + `: {type: string}}}}}
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`
}

func TestScanAmbiguousDefinitions(t *testing.T) {
	const warning = "warning : CustomResourceDefinition.apiextensions.k8s.io/foos.example.com is not the same in the roots one and two; for other roots it is the one of one: name the roots that belong together under targets in .preadmit.yaml"
	foo := "-- app/foo.yaml --\n{apiVersion: example.com/v1, kind: Foo, metadata: {name: a}, a: x}\n"
	in := func(head string) []string {
		r := mustScan(t, input("", head))
		return slices.DeleteFunc(reportLines(r), func(s string) bool { return !strings.HasPrefix(s, "warning") && !strings.HasPrefix(s, "new") })
	}
	for name, test := range map[string]struct {
		head string
		want []string
	}{
		"other schemas":          {foos("one", "v1", "a") + foos("two", "v1", "b") + foo, []string{warning}},
		"other labels alone":     {foos("one", "v1", "a") + foos("two", "v1", "a") + foo, nil},
		"no object of the kind":  {foos("one", "v1", "a") + foos("two", "v1", "b"), nil},
		"the root's own decides": {foos("one", "v1", "b") + foos("app", "v1", "a") + foo, nil},
	} {
		if diff := cmp.Diff(test.want, in(test.head), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestScanUnservedVersions checks that a version which the kind's CustomResourceDefinition does not serve is
// refused, like an unserved version of a built-in kind.
func TestScanUnservedVersions(t *testing.T) {
	foo := func(version string) string {
		return "-- app/foo.yaml --\n{apiVersion: example.com/" + version + ", kind: Foo, metadata: {name: a, namespace: default}, a: x}\n"
	}
	const refused = `new Deny schema app/foo.yaml CREATE Foo default/a: no matches for kind "Foo" in version "example.com/v0": CustomResourceDefinition foos.example.com serves v1 []`
	wantReport(t, mustScan(t, input("", foos("crds", "v1", "a")+foo("v0"))), refused)
	wantReport(t, mustScan(t, input("", foos("crds", "v1", "a")+foo("v1"))))
	// The change stops serving a version that the base serves.
	served := strings.Replace(foos("crds", "v1", "a"), "v0, served: false", "v0, served: true", 1)
	changed := strings.Replace(foo("v0"), "a: x", "a: y", 1)
	wantReport(t, mustScan(t, input(served+foo("v0"), foos("crds", "v1", "a")+changed)), strings.Replace(refused, "CREATE", "UPDATE", 1))
	// The object is of another kind, which nothing defines.
	r := mustScan(t, input("", foos("crds", "v1", "a")+strings.Replace(foo("v0"), "kind: Foo", "kind: Bar", 1)))
	if len(r.Findings) > 0 {
		t.Errorf("another kind: %q", reportLines(r))
	}
}

// TestScanMigratedVersions checks that an object in a version that is no longer served is judged as an update if
// the change migrates it to a served version.
func TestScanMigratedVersions(t *testing.T) {
	policy := func(group, resource string) string {
		return `
-- policies/p.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [` + group + `], apiVersions: [v1], operations: [UPDATE], resources: [` + resource + `]}]
  validations: [{expression: "object.spec == oldObject.spec", message: the spec may not change}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p, validationActions: [Deny]}
`
	}
	cronJob := func(version, schedule string) string {
		return policy("batch", "cronjobs") + "-- app/c.yaml --\napiVersion: batch/" + version + "\nkind: CronJob\nmetadata: {name: a, namespace: default}\nspec: {schedule: '" + schedule + "', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}}\n"
	}
	foo := func(crd, version, a string) string {
		return policy("example.com", "foos") + crd + "-- app/c.yaml --\n{apiVersion: example.com/" + version + ", kind: Foo, metadata: {name: a, namespace: default}, spec: {a: " + a + "}}\n"
	}
	now := strings.ReplaceAll(foos("crds", "v1", "spec"), "{spec: {type: string}}", "{spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}")
	now = strings.Replace(now, "openAPIV3Schema: {type: object}", "openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}", 1)
	was := strings.Replace(now, "v0, served: false", "v0, served: true", 1)
	gone := now[:strings.Index(now, "  - {name: v0")]
	for name, test := range map[string]struct{ base, head, want string }{
		"built in, the same":         {cronJob("v1beta1", "* * * * *"), cronJob("v1", "* * * * *"), ""},
		"built in, another":          {cronJob("v1beta1", "* * * * *"), cronJob("v1", "1 * * * *"), "new Deny validation app/c.yaml UPDATE CronJob default/a: the spec may not change [inForce]"},
		"defined, the same":          {foo(was, "v0", "x"), foo(now, "v1", "x"), ""},
		"defined, another":           {foo(was, "v0", "x"), foo(now, "v1", "y"), "new Deny validation app/c.yaml UPDATE Foo default/a: the spec may not change [inForce]"},
		"of a version that is gone":  {foo(was, "v0", "x"), foo(gone, "v1", "y"), "indeterminate object app: stored object: example.com/v0 Foo is not served: CustomResourceDefinition foos.example.com serves v1"},
		"of a version unknown today": {strings.Replace(cronJob("v1", "* * * * *"), "batch/v1\n", "batch/v2alpha1\n", 1), cronJob("v1", "1 * * * *"), "indeterminate object app: stored object: Kubernetes v1.36.3 does not serve batch/v2alpha1 CronJob; use batch/v1 CronJob"},
	} {
		for _, by := range []string{"", "flux", "argocd", "argocd-ssa", "kubectl", "kubectl-ssa", "replace"} {
			in := input(test.base, test.head)
			in.Config.Applier = by
			in.Config.Workloads = new(bool)
			got := slices.DeleteFunc(reportLines(mustScan(t, in)), func(s string) bool { return strings.Contains(s, "CustomResourceDefinition /foos") })
			if strings.Join(got, "\n") != test.want {
				t.Errorf("%s, %q: %q, want %q", name, by, got, test.want)
			}
		}
	}
}

// An upgrade of a release does not apply the definitions of its chart, so that those that are given count before those of the base.
func TestGivenDefinitionsOfARelease(t *testing.T) {
	foo := func(field string) string {
		return "-- charts/web/templates/foo.yaml --\n{apiVersion: example.com/v1, kind: Foo, metadata: {name: a, namespace: default}, " + field + ": x}\n"
	}
	crd := func(field string) string { return foos("charts/web/crds", "v1", field) }
	const refused = "failed to create typed patch object (default/a; example.com/v1, Kind=Foo): .b: field not declared in schema"
	in := input(unitsOf+crd("a")+foo("a"), unitsOf+crd("b")+foo("b"))
	if denied, _ := deniedBy(mustScan(t, in)); !slices.Equal(denied, []string{refused}) {
		t.Errorf("by the definition of the base: %q", denied)
	}
	in.Extra = []scanner.Extra{{Name: "../crds.yaml", FS: tree(foos("given", "v1", "b"))}}
	r := mustScan(t, in)
	if denied, unjudged := deniedBy(r); len(denied)+len(unjudged) > 0 || r.Summary.Requests != 1 {
		t.Errorf("by the definition that is given: %q %q, %d requests", denied, unjudged, r.Summary.Requests)
	}
	for _, line := range reportLines(r) {
		if strings.Contains(line, "crds/") {
			t.Error(line)
		}
	}
}
