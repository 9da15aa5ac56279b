package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// shapes defines a kind with a field of each kind of schema.
const shapes = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shapes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Shape, plural: shapes}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            properties:
              text: {type: string}
              number: {type: number}
              integer: {type: integer}
              switch: {type: boolean}
              either: {x-kubernetes-int-or-string: true}
              default: {type: string, default: x}
              nullable: {type: string, nullable: true}
              list: {type: array, items: {type: string}}
              set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}}
              twice: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name, size], items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer, default: 1}}}}
              numbers: {type: array, x-kubernetes-list-type: set, items: {type: number}}
              items: {type: array, items: {type: object, properties: {name: {type: string}, size: {type: integer}}}}
              map: {type: object, additionalProperties: {type: string}}
              atomic: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: integer}}
              any: {type: object, additionalProperties: true}
              free: {x-kubernetes-preserve-unknown-fields: true}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {name: {type: string}}}
              embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`

// TestAppliedCustomResourceIsCreated: applying a new custom resource has the same result with and without the
// shortcut, for generated values of fields of all kinds of schemas.
func TestAppliedCustomResourceIsCreated(t *testing.T) {
	short, long := open(t, shapes), open(t, shapes)
	h, err := long.handler(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Shape"})
	if err != nil {
		t.Fatal(err)
	}
	isPlain, plain := h.plain, 0
	h.plain = func(*Object, *apply.Manifest) bool { return false }
	total := testall.Count(1000, 6000)
	for seed := range uint64(total) {
		g := shaper{rand.New(rand.NewPCG(seed, 7))}
		content := g.object()
		o := NewObject(content)
		text, err := o.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := apply.ReadManifest(text); ok && isPlain(o, &m) {
			plain++
		}
		by := []apply.Applier{apply.Flux, apply.ArgoCDSSA, apply.KubectlSSA}[g.IntN(3)]
		if diff := cmp.Diff(appliedNew(t, long, content, by), appliedNew(t, short, content, by)); diff != "" {
			t.Fatalf("seed %d, %s, %v (-applied +created):\n%s", seed, by, content, diff)
		}
	}
	if plain < total/5 || plain > total*4/5 {
		t.Errorf("%d of %d objects are plain: the short way or the long one is hardly asked", plain, total)
	}
}

// appliedNew returns a new object as a policy sees it, with the server's warnings and error.
func appliedNew(t *testing.T, c *Cluster, content map[string]any, by apply.Applier) string {
	t.Helper()
	a := ask("CREATE", NewObject(content), nil)
	a.Applier = by
	req, warned, err := c.Prepare(t.Context(), a)
	if err != nil {
		return fmt.Sprint(err, warned)
	}
	return fmt.Sprint(seen(t, req), warned, req.Dropped())
}

// shaper generates custom resources.
type shaper struct{ *rand.Rand }

func (g shaper) object() map[string]any {
	metadata := map[string]any{"name": "a", "namespace": "shop"}
	if g.IntN(10) == 0 {
		metadata[pick(g, "labels", "finalizers", "creationTimestamp", "uid", "ownerReferences", "generation", "colour")] = g.value(2)
	}
	content := map[string]any{"apiVersion": "example.com/v1", "kind": "Shape", "metadata": metadata}
	spec := map[string]any{}
	for range g.IntN(4) {
		field := pick(g, "text", "number", "integer", "switch", "either", "default", "nullable", "list", "set", "keyed", "twice", "numbers", "items", "map", "atomic", "any", "free", "open", "embedded")
		spec[field] = g.fitting(field)
		if g.IntN(6) == 0 {
			spec[field] = g.value(3)
		}
	}
	content["spec"] = spec
	if g.IntN(20) == 0 {
		content[pick(g, "status", "extra", "spec")] = g.value(2)
	}
	return content
}

// fitting returns a likely value of a field.
func (g shaper) fitting(field string) any {
	item := func() any {
		return pick(g, map[string]any{"name": pick(g, "a", "b"), "size": int64(g.IntN(3))}, map[string]any{pick(g, "name", "size"): pick[any](g, "a", "", int64(0))})
	}
	if g.IntN(6) == 0 { // Flux removes these from kinds that it knows
		return pick[any](g, map[string]any{}, []any{}, []any{map[string]any{}}, map[string]any{"name": map[string]any{}})
	}
	switch field {
	case "number":
		return pick[any](g, int64(1), 1.5, 2.0)
	case "integer":
		return int64(g.IntN(3))
	case "switch":
		return g.IntN(2) == 0
	case "either":
		return pick[any](g, int64(80), "80%", 1.0)
	case "list", "set":
		return []any{pick(g, "a", "b"), pick(g, "a", "c")}
	case "numbers":
		return []any{pick[any](g, int64(1), 1.0, 2.5), pick[any](g, int64(1), int64(2), 1.5)}
	case "keyed", "twice", "items":
		return []any{item(), item()}
	case "map":
		return map[string]any{"a": "b"}
	case "atomic":
		return map[string]any{"a": int64(1)}
	case "any", "free", "open":
		return map[string]any{"name": "a", "more": g.value(3)}
	case "embedded":
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "finalizers": []any{"a", pick(g, "a", "b")}}}
	}
	return pick(g, "a", "")
}

// value returns any value.
func (g shaper) value(depth int) any {
	if depth > 0 {
		switch g.IntN(4) {
		case 0:
			return map[string]any{pick(g, "name", "size", "other"): g.value(depth - 1)}
		case 1:
			return []any{g.value(depth - 1), g.value(depth - 1)}
		}
	}
	return pick[any](g, nil, "a", "", int64(1), 1.0, 2.5, true, map[string]any{}, []any{})
}

func pick[T any](g shaper, of ...T) T { return of[g.IntN(len(of))] }
