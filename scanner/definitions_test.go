package scanner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// foos defines the kind Foo, as a root, with one version and a field.
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
		return slices.DeleteFunc(says(r), func(s string) bool { return !strings.HasPrefix(s, "warning") && !strings.HasPrefix(s, "new") })
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

// TestScanUnservedVersions: a version that the CustomResourceDefinition of a kind does not serve is refused, as
// one of a built-in kind is.
func TestScanUnservedVersions(t *testing.T) {
	foo := func(version string) string {
		return "-- app/foo.yaml --\n{apiVersion: example.com/" + version + ", kind: Foo, metadata: {name: a, namespace: default}, a: x}\n"
	}
	const refused = `new Deny schema app/foo.yaml CREATE Foo default/a: no matches for kind "Foo" in version "example.com/v0": CustomResourceDefinition foos.example.com serves v1 []`
	wantSays(t, mustScan(t, input("", foos("crds", "v1", "a")+foo("v0"))), refused)
	wantSays(t, mustScan(t, input("", foos("crds", "v1", "a")+foo("v1"))))
	// The change stops serving what the base served.
	served := strings.Replace(foos("crds", "v1", "a"), "v0, served: false", "v0, served: true", 1)
	changed := strings.Replace(foo("v0"), "a: x", "a: y", 1)
	wantSays(t, mustScan(t, input(served+foo("v0"), foos("crds", "v1", "a")+changed)), strings.Replace(refused, "CREATE", "UPDATE", 1))
	// The kind is another one, which nothing defines.
	r := mustScan(t, input("", foos("crds", "v1", "a")+strings.Replace(foo("v0"), "kind: Foo", "kind: Bar", 1)))
	if len(r.Findings) > 0 {
		t.Errorf("another kind: %q", says(r))
	}
}
