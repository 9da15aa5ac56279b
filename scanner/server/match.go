package server

import (
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// MayMatch reports whether one of the named policies could match a request about an
// object, going by its rules only. It spares requests that no policy is for; what really
// matches is the engine's to say, so this must never be too narrow.
func (s *Server) MayMatch(names map[string]bool, o *admission.Object, op apiserver.Operation) bool {
	kind := o.GroupVersionKind()
	resource := ""
	if r, ok := s.Cluster().Resource(kind); ok {
		resource = r.Resource
	}
	return s.anyRule(names, func(rule v1.NamedRuleWithOperations) bool {
		return policy.RuleMayMatch(rule, kind.Group, resource, op)
	})
}

// MayMatchCreated reports whether one of the named policies (nil for all) could match
// the creation of one of the resources, going by its rules only.
func (s *Server) MayMatchCreated(resources []schema.GroupResource, names map[string]bool) bool {
	return len(resources) > 0 && s.anyRule(names, func(rule v1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(resources, func(r schema.GroupResource) bool {
			return policy.RuleMayMatch(rule, r.Group, r.Resource, apiserver.Create)
		})
	})
}

// anyRule reports whether a resource rule of one of the named policies (nil for all) is
// as wanted.
func (s *Server) anyRule(names map[string]bool, wanted func(v1.NamedRuleWithOperations) bool) bool {
	return slices.ContainsFunc(s.Policies(), func(p *policy.Policy) bool {
		return (names == nil || names[p.Name]) && (p.MatchIsUnknown() || p.Spec.MatchConstraints != nil &&
			slices.ContainsFunc(p.Spec.MatchConstraints.ResourceRules, wanted))
	})
}
