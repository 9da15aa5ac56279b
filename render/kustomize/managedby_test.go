package kustomize

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// TestManagedByLabel checks that the label of buildMetadata has the version of the kustomize that builds, if
// that is known, and never that of this program.
func TestManagedByLabel(t *testing.T) {
	const object = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: b}}}\n"
	for _, test := range []struct {
		name, app, base, version, want string
		unknown                        bool
	}{
		{"not known", "resources: [../base]\nbuildMetadata: [managedByLabel]\n", "resources: [c.yaml]\n", "", "map[a:b app.kubernetes.io/managed-by:kustomize-v5.8.1]", true},
		{"known", "resources: [../base]\nbuildMetadata: [originAnnotations, managedByLabel]\n", "resources: [c.yaml]\n", "(devel)", "map[a:b app.kubernetes.io/managed-by:kustomize-(devel)]", false},
		{"not asked for", "resources: [../base]\n", "resources: [c.yaml]\n", "", "map[a:b]", false},
		{"of a base that is all there is", "resources: [../base]\n", "resources: [c.yaml]\nbuildMetadata: [managedByLabel]\n", "", "map[a:b]", false},
		{"of a base", "resources: [../base]\nnamespace: x\n", "resources: [c.yaml]\nbuildMetadata: [managedByLabel]\n", "", "map[a:b]", false},
	} {
		files := fstest.MapFS{"app/kustomization.yaml": {Data: []byte(test.app)}, "base/kustomization.yaml": {Data: []byte(test.base)}, "base/c.yaml": {Data: []byte(object)}}
		r := New(tree.New(files, tree.Limits{}), render.Options{KustomizeVersion: test.version})
		result := r.Render(t.Context(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}})
		if result.Problem != nil || len(result.Objects) != 1 {
			t.Fatalf("%s: %v", test.name, result.Problem)
		}
		o := result.Objects[0]
		metadata, _ := o.Content()["metadata"].(map[string]any)
		if got := fmt.Sprint(metadata["labels"]); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		path := []string{"metadata", "labels", "app.kubernetes.io/managed-by"}
		if got := slices.ContainsFunc(o.Unknown, func(u render.Unknown) bool { return slices.Equal(u.Path, path) }); got != test.unknown {
			t.Errorf("%s: unknown %v", test.name, o.Unknown)
		}
		origins, err := r.Origins(t.Context(), result)
		if err != nil || len(origins) != 1 || origins[0].Place("metadata.name", 0).Position.Path != "base/c.yaml" {
			t.Errorf("%s: %v %v", test.name, origins, err)
		}
	}
}
