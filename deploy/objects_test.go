package deploy

import (
	"io/fs"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
)

// object is a rendered object.
type object map[string]any

// field is the value at a path like spec.replicas; nil when there is none.
func (o object) field(path string) any {
	value, _ := origin.Field(o, path)
	return value
}

func (o object) kind() string { return o["kind"].(string) }

// objects renders the only root of a tree.
func objects(t *testing.T, tree fs.FS) []object {
	t.Helper()
	r := sources.NewRenderer(tree, render.Options{})
	found, err := r.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Roots) != 1 {
		t.Fatalf("want one root, not %v", found.Roots)
	}
	result := r.Render(t.Context(), found.Roots[0])
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	var all []object
	for _, o := range result.Objects {
		all = append(all, o.Content())
	}
	return all
}

// formObjects renders the form of a name.
func formObjects(t *testing.T, name string) []object {
	t.Helper()
	for _, f := range forms(t) {
		if f.name == name {
			return objects(t, f.tree)
		}
	}
	t.Fatalf("there is no form %s", name)
	return nil
}

// one is the object of a kind; nil when there is none.
func one(t *testing.T, all []object, kinds ...string) object {
	t.Helper()
	var found object
	for _, o := range all {
		for _, kind := range kinds {
			if o.kind() != kind {
				continue
			}
			if found != nil {
				t.Fatalf("there is a second %s", kind)
			}
			found = o
		}
	}
	return found
}
