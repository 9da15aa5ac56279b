package admission

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// TestKnownKinds: a state can have all objects of some kinds.
func TestKnownKinds(t *testing.T) {
	var rbac []schema.GroupKind
	for k := range kinds.With(kinds.Authorizes) {
		rbac = append(rbac, k.GroupKind)
	}
	configMap := schema.GroupKind{Kind: "ConfigMap"}
	for name, test := range map[string]struct {
		known                     kinds.Complete
		namespaces, rbac, anyKind bool
	}{
		"nothing":    {kinds.Complete{}, false, false, false},
		"namespaces": {kinds.CompleteOf(kinds.Namespace), true, false, false},
		"some RBAC":  {kinds.CompleteOf(rbac[:3]...), false, false, false},
		"all RBAC":   {kinds.CompleteOf(rbac...), false, true, false},
		"everything": {kinds.CompleteAll(), true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCluster(ClusterOptions{Known: test.known}, NewIndex(nil))
			if got := c.Knows(kinds.Namespace); got != test.namespaces {
				t.Errorf("knows Namespaces: %v", got)
			}
			if got := c.KnowsRBAC(); got != test.rbac {
				t.Errorf("knows RBAC: %v", got)
			}
			if got := c.Knows(configMap); got != test.anyKind {
				t.Errorf("knows ConfigMaps: %v", got)
			}
			if _, assumed, err := c.Namespace("shop"); assumed == test.namespaces || (err != nil) != test.namespaces {
				t.Errorf("a Namespace that is not there: assumed %v, error %v", assumed, err)
			}
		})
	}
}
