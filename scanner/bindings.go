package scanner

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/policy"
)

// noteBindings warns of bindings of policies that nothing defines: the API server
// accepts them, and they have no effect. What the base has too is not mentioned.
func (s *scan) noteBindings() {
	for _, t := range s.targets {
		for _, o := range t.head.idleBindings() {
			if t.base != nil && t.base.isIdle(t.base.cluster.Key(o)) {
				continue
			}
			s.remarks = append(s.remarks, lines.Finding{
				Finding: report.Finding{
					Root:    change.OriginOf(o).Root.Dir,
					Message: "it binds the policy " + policy.BoundPolicy(o) + ", which nothing that was rendered defines, so it has no effect",
				},
				Subject: o, Key: t.head.cluster.Key(o), Fields: []string{"spec.policyName"},
			})
		}
	}
}

// idleBindings are the bindings without a policy, in the order of their keys.
func (s *state) idleBindings() []*admission.Object {
	var idle []*admission.Object
	for _, key := range s.policyKeys {
		if s.isIdle(key) {
			idle = append(idle, s.governing[key][0].object)
		}
	}
	return idle
}

// isIdle reports whether a key is that of a binding whose policy nothing defines.
func (s *state) isIdle(key admission.Key) bool {
	defs := s.governing[key]
	if key.Kind != kinds.Binding.Kind || len(defs) == 0 {
		return false
	}
	policy := admission.Key{Group: kinds.Policy.Group, Kind: kinds.Policy.Kind, Name: policy.BoundPolicy(defs[0].object)}
	return len(s.governing[policy]) == 0
}
