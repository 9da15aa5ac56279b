package server

import (
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/written"
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
		return written.RuleMayMatch(rule, kind.Group, resource, op)
	})
}

// MayMatchCreated reports whether one of the named policies (nil for all) could match
// the creation of one of the resources, going by its rules only.
func (s *Server) MayMatchCreated(resources []schema.GroupResource, names map[string]bool) bool {
	return len(resources) > 0 && s.anyRule(names, func(rule v1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(resources, func(r schema.GroupResource) bool {
			return written.RuleMayMatch(rule, r.Group, r.Resource, apiserver.Create)
		})
	})
}

// MayMutate is MayMatch for the policies that change objects; nil names all.
func (s *Server) MayMutate(names map[string]bool, o *admission.Object, op apiserver.Operation) bool {
	kind := o.GroupVersionKind()
	resource := ""
	if r, ok := s.Cluster().Resource(kind); ok {
		resource = r.Resource
	}
	return s.anyMutation(names, func(rule v1.NamedRuleWithOperations) bool {
		return written.RuleMayMatch(rule, kind.Group, resource, op)
	})
}

// MayMutateCreated is MayMatchCreated for the policies that change objects.
func (s *Server) MayMutateCreated(resources []schema.GroupResource, names map[string]bool) bool {
	return len(resources) > 0 && s.anyMutation(names, func(rule v1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(resources, func(r schema.GroupResource) bool {
			return written.RuleMayMatch(rule, r.Group, r.Resource, apiserver.Create)
		})
	})
}

// anyRule reports whether a resource rule of one of the named policies (nil for all) is
// as wanted.
func (s *Server) anyRule(names map[string]bool, wanted func(v1.NamedRuleWithOperations) bool) bool {
	return slices.ContainsFunc(s.Policies(), func(p *policy.Policy) bool {
		return (names == nil || names[p.Name]) && mayMatch(p.Source, p.Spec.MatchConstraints, wanted)
	})
}

// anyMutation is anyRule for the policies that change objects.
func (s *Server) anyMutation(names map[string]bool, wanted func(v1.NamedRuleWithOperations) bool) bool {
	return slices.ContainsFunc(s.PolicySets(), func(set *policy.Set) bool {
		return slices.ContainsFunc(set.Mutations, func(p *policy.Mutation) bool {
			return (names == nil || names[p.Name]) && mayMatch(p.Source, p.Spec.MatchConstraints, wanted)
		})
	})
}

func mayMatch(source *admission.Object, constraints *v1.MatchResources, wanted func(v1.NamedRuleWithOperations) bool) bool {
	return policy.MatchIsUnknown(source) || constraints != nil && slices.ContainsFunc(constraints.ResourceRules, wanted)
}
