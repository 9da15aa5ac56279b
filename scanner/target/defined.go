package target

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
)

// Definers returns the CustomResourceDefinitions by the kind that they define and their names.
func (s *State) Definers() map[schema.GroupKind]map[string]*admission.Object {
	all := map[schema.GroupKind]map[string]*admission.Object{}
	for key, defs := range s.Governing {
		if key.Kind != kinds.Definition.Kind || key.Group != kinds.Definition.Group || len(defs) == 0 {
			continue
		}
		kind := defs[0].Object.Defined()
		if all[kind] == nil {
			all[kind] = map[string]*admission.Object{}
		}
		all[kind][key.Name] = defs[0].Object
	}
	return all
}

// IdleBindings returns the bindings without a policy, in the order of their keys.
func (s *State) IdleBindings() []*admission.Object {
	var idle []*admission.Object
	for _, key := range s.PolicyKeys {
		if s.IsIdle(key) {
			idle = append(idle, s.Governing[key][0].Object)
		}
	}
	return idle
}

// IsIdle reports whether a key is that of a binding whose policy does not exist.
func (s *State) IsIdle(key admission.Key) bool {
	defs, kind := s.Governing[key], schema.GroupKind{Group: key.Group, Kind: key.Kind}
	if !kinds.IsBinding(kind) || len(defs) == 0 {
		return false
	}
	bound := kinds.BoundBy(kind)
	policy := admission.Key{Group: bound.Group, Kind: bound.Kind, Name: written.BoundPolicy(defs[0].Object)}
	return len(s.Governing[policy]) == 0
}
