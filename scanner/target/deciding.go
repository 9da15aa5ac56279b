package target

import (
	"maps"
	"slices"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Decides reports whether objects of a key affect how others are judged: policies, their params, Namespaces,
// definitions, RBAC, and what admission plugins look up.
func (s *State) Decides(key admission.Key, o *admission.Object) bool {
	return len(s.Governing[key]) > 0 || kinds.Of(o.GroupVersionKind().GroupKind()).Effect == kinds.Completes
}

// Deciding returns the objects that affect how others are judged, in the order of their keys. Of
// several objects with one key it is that of the first root, else the first given one.
func (s *State) Deciding() []*admission.Object {
	first := map[admission.Key]*admission.Object{}
	add := func(o *admission.Object) {
		key := s.Cluster.Key(o)
		if o.Name() != "" && first[key] == nil && s.Decides(key, o) {
			first[key] = o
		}
	}
	for _, r := range s.Roots {
		for _, o := range r.Objects {
			add(o)
		}
	}
	for _, o := range s.given {
		add(o)
	}
	var all []*admission.Object
	for _, key := range slices.SortedFunc(maps.Keys(first), compareKeys) {
		all = append(all, first[key])
	}
	return all
}
