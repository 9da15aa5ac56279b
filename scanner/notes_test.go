package scanner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNotesOfSeveralRoots checks that a note about objects of several roots is reported once.
func TestNotesOfSeveralRoots(t *testing.T) {
	widget := func(name string) string {
		return "apiVersion: example.com/v1\nkind: " + name + "\nmetadata: {name: x}\n"
	}
	in := input("", limitPolicy+"-- a/x.yaml --\n"+widget("Widget")+"-- b/x.yaml --\n"+widget("Gadget")+"-- b/y.yaml --\n"+widget("Widget"))
	var got []string
	for _, d := range mustScan(t, in).Diagnostics {
		if d.Severity == "note" {
			got = append(got, d.Root+": "+d.Message)
		}
	}
	want := []string{": 3 objects are of kinds without a CustomResourceDefinition in the repository, so no schema is checked; add it or give it with --context (Gadget.example.com, Widget.example.com): 2 roots (a, b)"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
