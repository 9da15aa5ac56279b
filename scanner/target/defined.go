package target

import (
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Definers are the CustomResourceDefinitions by the kind that they define and their names.
func (s *State) Definers() map[schema.GroupKind]map[string]*admission.Object {
	all := map[schema.GroupKind]map[string]*admission.Object{}
	for key, defs := range s.Governing {
		if key.Kind != kinds.Definition.Kind || key.Group != kinds.Definition.Group || len(defs) == 0 {
			continue
		}
		kind := policy.DefinedKind(defs[0].Object)
		if all[kind] == nil {
			all[kind] = map[string]*admission.Object{}
		}
		all[kind][key.Name] = defs[0].Object
	}
	return all
}

// IdleBindings are the bindings without a policy, in the order of their keys.
func (s *State) IdleBindings() []*admission.Object {
	var idle []*admission.Object
	for _, key := range s.PolicyKeys {
		if s.IsIdle(key) {
			idle = append(idle, s.Governing[key][0].Object)
		}
	}
	return idle
}

// IsIdle reports whether a key is that of a binding whose policy nothing defines.
func (s *State) IsIdle(key admission.Key) bool {
	defs := s.Governing[key]
	if key.Kind != kinds.Binding.Kind || len(defs) == 0 {
		return false
	}
	policy := admission.Key{Group: kinds.Policy.Group, Kind: kinds.Policy.Kind, Name: policy.BoundPolicy(defs[0].Object)}
	return len(s.Governing[policy]) == 0
}
