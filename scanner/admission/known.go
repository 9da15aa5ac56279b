package admission

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// KnownKinds are the kinds of which a state has all objects, as a live server has of
// every kind: what is not found of them does not exist. Of other kinds what is not
// found is unknown. The zero value knows no kind.
type KnownKinds struct {
	all   bool
	kinds map[schema.GroupKind]bool
}

// AllKinds is the knowledge of a live server.
func AllKinds() KnownKinds { return KnownKinds{all: true} }

// Known is the knowledge of the given kinds.
func Known(kinds ...schema.GroupKind) KnownKinds {
	k := KnownKinds{kinds: map[schema.GroupKind]bool{}}
	for _, kind := range kinds {
		k.kinds[kind] = true
	}
	return k
}

// Has reports whether all objects of a kind are known.
func (k KnownKinds) Has(kind schema.GroupKind) bool { return k.all || k.kinds[kind] }

// serviceCIDRKind says which IP families Services can have.
var serviceCIDRKind = schema.GroupKind{Group: "networking.k8s.io", Kind: "ServiceCIDR"}

// Knows reports whether the state has all objects of a kind.
func (c *Cluster) Knows(kind schema.GroupKind) bool { return c.opts.Known.Has(kind) }

// KnowsRBAC reports whether the state has all that grants rights.
func (c *Cluster) KnowsRBAC() bool {
	for k := range kinds.With(kinds.Authorizes) {
		if !c.Knows(k.GroupKind) {
			return false
		}
	}
	return true
}

// KnowsKinds reports whether the state has all CustomResourceDefinitions, so that a
// kind that is not served does not exist.
func (c *Cluster) KnowsKinds() bool { return c.Knows(kinds.Definition) }
