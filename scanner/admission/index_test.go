package admission

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestDefaultNamespace: an object written without a namespace and one in "default"
// are the same object, in one layer and over layers.
func TestDefaultNamespace(t *testing.T) {
	configMap := func(namespace string) *Object {
		return NewObject(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": namespace}})
	}
	r, _ := NewCluster(ClusterOptions{}, NewIndex(nil)).Resource(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	for _, layers := range [][]*Index{
		{NewIndex([]*Object{configMap(""), configMap("default"), configMap("other")})},
		{NewIndex([]*Object{configMap("")}), NewIndex([]*Object{configMap("default"), configMap("other")})},
	} {
		c := NewCluster(ClusterOptions{}, layers...)
		if found := c.List(r, "default"); len(found) != 1 || found[0] != layers[0].byKind[schema.GroupKind{Kind: "ConfigMap"}][0] {
			t.Errorf("got %v, want the first only", found)
		}
		if found := c.Find(r, "default", "a"); found == nil || found.Namespace() != "" {
			t.Errorf("found %v", found)
		}
	}
}
