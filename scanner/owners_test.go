package scanner_test

import (
	"strings"
	"testing"
)

// TestSecondDefinition checks that a second definition of a kind, whose names a server does not
// accept, is reported, since policies may no longer match the kind's objects.
func TestSecondDefinition(t *testing.T) {
	definition := func(plural string) string {
		return `
-- ` + plural + `/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.a.b}
spec:
  group: a.b
  scope: Namespaced
  names: {plural: ` + plural + `, singular: foo, kind: Foo, listKind: FooList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
	}
	base := gatedApp + definition("foos")
	count := func(base, head string) int {
		n := 0
		for _, i := range mustScan(t, input(base, head)).Indeterminate {
			if strings.Contains(i.Why, "defines the kind Foo, which foos.a.b defines already") && i.Location.Path == "aars/crd.yaml" && !i.Untouched {
				n++
			}
		}
		return n
	}
	if n := count(base, base+definition("aars")); n != 1 {
		t.Errorf("a second definition is told %d times", n)
	}
	both := base + definition("aars")
	if n := count(both, both); n != 0 {
		t.Errorf("an old second definition is told %d times", n)
	}
	if n := count(gatedApp, gatedApp+definition("aars")); n != 0 {
		t.Errorf("a first definition is told %d times", n)
	}
}
