package render

import (
	"context"
	"testing"
	"testing/fstest"
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
	if len(found.Roots) != 1 || found.Roots[0].Path != "env" {
		t.Errorf("roots %v", found.Roots)
	}
	want := "not judged, because no kustomization uses it though one uses w1.yaml beside it: w2.yaml"
	if len(found.Diagnostics) != 1 || found.Diagnostics[0].Message != want || found.Diagnostics[0].Path != "apps/w2.yaml" {
		t.Errorf("diagnostics %v", found.Diagnostics)
	}
}
