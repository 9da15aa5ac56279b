package admission

import (
	"testing"

	"github.com/preadmit/preadmit/render/scope"
)

// TestScopes: what renders manifests knows of all kinds of the API server whether they are in namespaces.
func TestScopes(t *testing.T) {
	resources := NewCluster(ClusterOptions{}, NewIndex(nil)).Resources()
	if len(resources) < 60 {
		t.Fatalf("%d resources", len(resources))
	}
	for _, r := range resources {
		if r.Kind.Group == "authorization.k8s.io" || r.Kind.Group == "authentication.k8s.io" {
			continue // not in manifests
		}
		namespaced, known := scope.Namespaced(r.Kind.GroupVersion().String(), r.Kind.Kind)
		if !known || namespaced != r.Namespaced {
			t.Errorf("%s: namespaced %t, known %t", r.Kind, namespaced, known)
		}
	}
}
