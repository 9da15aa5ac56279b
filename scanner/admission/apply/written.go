package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Written returns a manifest of a built-in kind as it is written. It is good for Like and Again only, which give the same
// as those of Applied wherever they give anything: of what is written, all that the stored object has so is also sent so,
// and what is sent besides is empty. It is nil where that is not certain.
func (f *Fields) Written(manifest map[string]any, by Applier) *Applied {
	u := &unstructured.Unstructured{Object: manifest}
	metadata, _ := manifest["metadata"].(map[string]any)
	if _, timed := metadata["creationTimestamp"]; timed || !alone(by, u) || u.GroupVersionKind() != f.Kind {
		return nil
	}
	kind, err := f.Types.ObjectToTyped(&unstructured.Unstructured{Object: map[string]any{"apiVersion": manifest["apiVersion"], "kind": manifest["kind"]}})
	if err != nil {
		return nil
	}
	typed := smd.AsTypedUnvalidated(value.NewValueInterface(sent(manifest, by)), kind.Schema(), kind.TypeRef())
	return &Applied{model: f.Model, value: typed, by: by, written: true}
}

// sent returns a manifest with the protocols that Flux writes, which tell ports apart.
func sent(manifest map[string]any, by Applier) map[string]any {
	if kind, _ := manifest["kind"].(string); by == Flux {
		return withProtocols(kind, manifest)
	}
	return manifest
}
