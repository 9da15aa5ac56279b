package custom

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// Assumed returns a CustomResourceDefinition of a kind that is known by name, which allows every field.
func Assumed(kind schema.GroupVersionKind, known kinds.Known) map[string]any {
	scope := "Cluster"
	if known.Namespaced {
		scope = "Namespaced"
	}
	return map[string]any{
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
	}
}

// CompileAssumed compiles the definition of a kind that is known by name.
func CompileAssumed(kind schema.GroupVersionKind, known kinds.Known) (*Definition, error) {
	body, err := utiljson.Marshal(Assumed(kind, known))
	if err != nil {
		return nil, fmt.Errorf("define %s: %w", kind.Kind, err)
	}
	return Compile(kinds.Definition.WithVersion("v1"), body)
}
