package scanner_test

import (
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRefusedRoots checks that a root which is not rendered because it crashes the process is
// reported, and never passes, wherever it is.
func TestRefusedRoots(t *testing.T) {
	const why = "the process that rendered it died"
	fine := strings.Replace(kustomized, "metadata: {name: a}", "metadata: {name: a, labels: {a: b}}", 1)
	gone := kustomized + "\n-- old/cm.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
	for name, test := range map[string]struct {
		base, head, root string
		roots            []string // Config.Roots
		path             string   // where it is reported
	}{
		"touched":         {base: kustomized, head: fine, root: "app", path: "app/kustomization.yaml"},
		"new":             {base: gatedApp[:strings.Index(gatedApp, "-- app")], head: kustomized, root: "app", path: "app/kustomization.yaml"},
		"with policies":   {base: kustomized, head: fine, root: "policies", path: "policies"},
		"not selected":    {base: kustomized, head: fine, root: "policies", roots: []string{"app"}, path: "policies"},
		"of the base":     {base: gone, head: kustomized, root: "old", path: "old"},
		"not a root":      {base: kustomized, head: fine, root: "app/part", path: "app/part"},
		"without a base":  {head: kustomized, root: "app", path: "app/kustomization.yaml"},
		"failing as well": {base: kustomized, head: strings.Replace(kustomized, "[cm.yaml]", "[none.yaml]", 1), root: "app", path: "app/kustomization.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(test.base, test.head)
			in.Config.Roots, in.Refused = test.roots, map[string]string{test.root: why}
			in.Rendering = func(root, _ string) func() {
				if root == test.root {
					t.Errorf("%s was rendered", root)
				}
				return func() {}
			}
			r := mustScan(t, in)
			if got := r.Verdict("", false); got != "incomplete" {
				t.Errorf("verdict %s: %q", got, reportLines(r))
			}
			if c := r.Summary.Roots; c.Lost != 1 || c.Indeterminate != 1 || c.Failed != 0 {
				t.Errorf("counts %+v", c)
			}
			if len(r.Indeterminate) != 1 {
				t.Fatalf("indeterminate %+v", r.Indeterminate)
			}
			if i := r.Indeterminate[0]; i.Root != test.root || i.Why != why || i.Location.Path != test.path || i.Untouched {
				t.Errorf("indeterminate %+v at %+v", i, i.Location)
			}
		})
	}
}

// TestRendering checks that the start and the end of rendering, locating and proving are reported
// for each root.
func TestRendering(t *testing.T) {
	var mu sync.Mutex
	began, working := map[string]int{}, map[string]int{}
	generated := strings.Replace(kustomized, "resources: [cm.yaml]", "configMapGenerator: [{name: a, literals: [size=50]}]", 1)
	in := input(kustomized, generated)
	in.Rendering = func(root, tree string) func() {
		mu.Lock()
		defer mu.Unlock()
		name := tree + " " + root
		began[name]++
		working[name]++
		return func() {
			mu.Lock()
			defer mu.Unlock()
			if working[name]--; working[name] == 0 {
				delete(working, name)
			}
		}
	}
	if r := mustScan(t, in); len(r.Findings) != 1 {
		t.Fatalf("findings %q", reportLines(r))
	}
	want := map[string]bool{"head app": true, "base app": true, "head policies": true}
	got := map[string]bool{}
	for name := range maps.Keys(began) {
		got[name] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
	if began["head app"] < 4 { // to render, to locate, to prove, to explain
		t.Errorf("app began %d times", began["head app"])
	}
	if len(working) != 0 {
		t.Errorf("still at work: %v", working)
	}
}

// TestNamelessPolicies checks that a binding whose name is not a string, which a server refuses, is
// a finding if it is new or changed, and is reported if it makes policies have no effect before and
// after.
func TestNamelessPolicies(t *testing.T) {
	const why = `ValidatingAdmissionPolicyBinding in version "v1" cannot be handled as a ValidatingAdmissionPolicyBinding: ` +
		`json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.name of type string`
	nameless := strings.Replace(gatedApp, "Binding\nmetadata: {name: limit}", "Binding\nmetadata: {name: off}", 1)
	untouched := "indeterminate policy policies: an API server would not accept this, so it takes no effect here, before the change as after it: " + why
	for name, test := range map[string]struct {
		base, head, says string
	}{
		"alone":     {head: nameless, says: "new Deny policy policies/binding.yaml CREATE ValidatingAdmissionPolicyBinding /: " + why + " []"},
		"new":       {base: gatedApp[strings.Index(gatedApp, "-- app"):], head: nameless, says: "new Deny policy policies/binding.yaml CREATE ValidatingAdmissionPolicyBinding /: " + why + " []"},
		"unchanged": {base: nameless, head: changed(nameless), says: untouched},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reportLines(mustScan(t, input(test.base, test.head))); len(got) == 0 || got[0] != test.says {
				t.Errorf("got %q, want %q", got, test.says)
			}
		})
	}
}
