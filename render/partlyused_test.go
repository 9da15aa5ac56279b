package render_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
)

// TestPartlyUsedDirectoriesAreReported checks that an unused manifest beside a used one, which is no root, is reported.
func TestPartlyUsedDirectoriesAreReported(t *testing.T) {
	manifest := []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	fsys := fstest.MapFS{
		"apps/w1.yaml":           {Data: manifest},
		"apps/w2.yaml":           {Data: manifest},
		"apps/values.yaml":       {Data: []byte("a: 1")},
		"env/kustomization.yaml": {Data: []byte("resources: [../apps/w1.yaml]")},
	}
	found, err := sources.NewRenderer(fsys, render.Options{}).Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Roots) != 1 || found.Roots[0].Dir != "env" {
		t.Errorf("roots %v", found.Roots)
	}
	want := []render.Gap{{Position: tree.Position{Path: "apps/w2.yaml"}, Kind: render.GapUnused, Root: render.RootID{Dir: "apps"}}}
	if d := cmp.Diff(want, found.Gaps, cmpopts.IgnoreFields(render.Gap{}, "Identity")); d != "" {
		t.Error(d)
	}
}
