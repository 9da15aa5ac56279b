package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// Complete are the kinds of which a state has all objects, as a live server has of every kind: an
// object of these that is not found does not exist. Of other kinds it is unknown. The zero value has
// no kinds.
type Complete struct {
	all   bool
	kinds map[schema.GroupKind]bool
}

// CompleteAll returns all kinds, for a state like that of a live server.
func CompleteAll() Complete { return Complete{all: true} }

// CompleteOf returns the given kinds.
func CompleteOf(kinds ...schema.GroupKind) Complete {
	c := Complete{kinds: map[schema.GroupKind]bool{}}
	for _, kind := range kinds {
		c.kinds[kind] = true
	}
	return c
}

// HasAll reports whether the state has all objects of every kind.
func (c Complete) HasAll() bool { return c.all }

// Has reports whether the state has all objects of a kind.
func (c Complete) Has(kind schema.GroupKind) bool { return c.all || c.kinds[kind] }

// HasRBAC reports whether the state has all objects that grant rights.
func (c Complete) HasRBAC() bool {
	for row := range With(Authorizes) {
		if !c.Has(row.GroupKind) {
			return false
		}
	}
	return true
}
