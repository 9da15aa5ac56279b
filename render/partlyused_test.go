package render

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestPartlyUsedDirectoriesAreTold: what no kustomization uses beside a file that
// one does is no root, and must not be passed over in silence.
func TestPartlyUsedDirectoriesAreTold(t *testing.T) {
	manifest := []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	fsys := fstest.MapFS{
		"apps/w1.yaml":           {Data: manifest},
		"apps/w2.yaml":           {Data: manifest},
		"apps/values.yaml":       {Data: []byte("a: 1")},
		"env/kustomization.yaml": {Data: []byte("resources: [../apps/w1.yaml]")},
	}
	found, err := NewRenderer(fsys, Options{}).Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Roots) != 1 || found.Roots[0].Dir != "env" {
		t.Errorf("roots %v", found.Roots)
	}
	want := []Gap{{Position: Position{Path: "apps/w2.yaml"}, Kind: GapUnused, Root: RootID{Dir: "apps"}}}
	if d := cmp.Diff(want, found.Gaps, cmpopts.IgnoreFields(Gap{}, "Identity")); d != "" {
		t.Error(d)
	}
}
