package deploy

import (
	"io/fs"
	"testing"

	"github.com/preadmit/preadmit/render"
)

// object is a rendered object.
type object map[string]any

// field is the value at a path like spec.replicas; nil when there is none.
func (o object) field(path string) any {
	value, _ := render.Field(o, path)
	return value
}

func (o object) kind() string { return o["kind"].(string) }

// objects renders the root of a tree that is at dir.
func objects(t *testing.T, tree fs.FS, dir string) []object {
	t.Helper()
	r := render.NewRenderer(tree, render.Options{})
	found, err := r.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	for _, root := range found.Roots {
		if root.Path != dir {
			continue
		}
		result := r.Render(t.Context(), root)
		if result.Problem != nil {
			t.Fatal(result.Problem)
		}
		for _, o := range result.Objects {
			all = append(all, o.Content())
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s renders to nothing; the roots are %v", dir, found.Roots)
	}
	return all
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
