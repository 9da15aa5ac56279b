package target

import (
	"maps"
	"slices"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Decides reports whether objects of a key decide how others are judged: policies, what they take as
// params, Namespaces, definitions, RBAC, and what admission plugins look up.
func (s *State) Decides(key admission.Key, o *admission.Object) bool {
	return len(s.Governing[key]) > 0 || kinds.Of(o.GroupVersionKind().GroupKind()).Effect == kinds.Completes
}

// Deciding returns the objects that decide how others are judged, each once, in the order of their
// keys: of roots before what was given.
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
