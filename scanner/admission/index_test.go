package admission

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestDefaultNamespace: an object written without a namespace and one in "default" are the same
// object, in one layer and across layers.
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

// TestAssumedNamespace: objects written without a namespace are in that of the cluster's options.
func TestAssumedNamespace(t *testing.T) {
	o := NewObject(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}})
	c := NewCluster(ClusterOptions{Namespace: "team"}, NewIndex([]*Object{o}))
	r, _ := c.Resource(o.GroupVersionKind())
	if key := c.Key(o); key.Namespace != "team" {
		t.Errorf("it is %v", key)
	}
	if c.Find(r, "team", "a") != o || c.Find(r, "default", "a") != nil {
		t.Error("it is not found in its namespace only")
	}
	if len(c.List(r, "team")) != 1 || len(c.List(r, "default")) != 0 {
		t.Error("it is not listed in its namespace only")
	}
}
