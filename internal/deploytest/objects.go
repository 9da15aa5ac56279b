package deploytest

import (
	"io/fs"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
)

// Object is a rendered object.
type Object map[string]any

// Field returns the value at a path like spec.replicas; nil when there is none.
func (o Object) Field(path string) any {
	value, _ := origin.Field(o, path)
	return value
}

// Kind returns its kind.
func (o Object) Kind() string { return o["kind"].(string) }

// Objects renders the only root of a tree.
func Objects(t *testing.T, tree fs.FS) []Object {
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
	var all []Object
	for _, o := range result.Objects {
		all = append(all, o.Content())
	}
	return all
}

// One returns the only object of some kinds; nil when there is none.
func One(t *testing.T, all []Object, kinds ...string) Object {
	t.Helper()
	var found Object
	for _, o := range all {
		for _, kind := range kinds {
			if o.Kind() != kind {
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
