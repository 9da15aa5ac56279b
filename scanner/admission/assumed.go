package admission

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/preadmit/preadmit/scanner/admission/custom"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// assumed returns how a kind is served that nothing in the state defines, but that is known
// by name.
func (c *Cluster) assumed(kind schema.GroupVersionKind) (Resource, bool) {
	known, ok := kinds.ByName(kind.GroupKind())
	if !ok || c.KnowsKinds() {
		return Resource{}, false
	}
	r, ok := crdResource(assumedCRD(kind, known), kind.Version)
	r.Assumed = true
	return r, ok
}

// assumedCRD returns a definition of a kind that is known by name, which takes everything.
func assumedCRD(kind schema.GroupVersionKind, known kinds.Known) *Object {
	scope := "Cluster"
	if known.Namespaced {
		scope = "Namespaced"
	}
	return NewObject(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": kinds.Definition.Kind,
		"metadata": map[string]any{"name": known.Plural + "." + kind.Group},
		"spec": map[string]any{
			"group": kind.Group, "scope": scope,
			"names": map[string]any{"kind": kind.Kind, "plural": known.Plural, "listKind": kind.Kind + "List"},
			"versions": []any{map[string]any{
				"name": kind.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	})
}

// assumedDefinition returns the definition of a kind that is known by name.
func (c *Cluster) assumedDefinition(kind schema.GroupVersionKind) (*custom.Definition, error) {
	known, ok := kinds.ByName(kind.GroupKind())
	if !ok {
		return nil, &UnknownKindError{Kind: kind}
	}
	crd := assumedCRD(kind, known)
	body, err := utiljson.Marshal(crd.Content())
	if err != nil {
		return nil, fmt.Errorf("define %s: %w", kind.Kind, err)
	}
	return custom.Compile(crd.GroupVersionKind(), body)
}

// withoutSchema says of an object of a kind that is known by name that fields which are not
// written may be there: the kind's CustomResourceDefinition may have a default for them.
func withoutSchema(kind schema.GroupVersionKind, content map[string]any) any {
	if content == nil {
		return nil
	}
	return unknown.WithDefaults(content, fmt.Sprintf("the CustomResourceDefinition of %s may have a default for it, and is not in the repository", kind.Kind))
}
