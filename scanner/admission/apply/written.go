package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Written returns a manifest of a built-in kind as it is written, nil if its fields may differ from those
// that are sent. It is only for Like and Again, which return nothing or the same as for Applied: written
// values that the stored object has are also sent, and additional fields that are sent are empty.
func (f *Fields) Written(manifest map[string]any, by Applier) *Applied {
	u := &unstructured.Unstructured{Object: manifest}
	metadata, _ := manifest["metadata"].(map[string]any)
	if _, timed := metadata["creationTimestamp"]; timed || !isSoleManager(by, u) || u.GroupVersionKind() != f.Kind {
		return nil
	}
	kind, err := f.Types.ObjectToTyped(&unstructured.Unstructured{Object: map[string]any{"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}})
	if err != nil {
		return nil
	}
	typed := smd.AsTypedUnvalidated(value.NewValueInterface(sent(manifest, by)), kind.Schema(), kind.TypeRef())
	return &Applied{model: f.Model, value: typed, by: by, written: true}
}

// sent returns a manifest with the protocols that Flux sets, which are keys of ports.
func sent(manifest map[string]any, by Applier) map[string]any {
	if kind, _ := manifest["kind"].(string); by == Flux {
		return withProtocols(kind, manifest)
	}
	return manifest
}
