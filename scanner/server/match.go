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

// MayMatch reports whether one of the named policies may match a request about an object, by its
// rules only. It is used to skip requests that no policy matches. The engine decides what matches, so
// this must never be too narrow.
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

// MayMatchCreated reports whether one of the named policies (nil for all) may match the creation of
// one of the resources, by its rules only.
func (s *Server) MayMatchCreated(resources []schema.GroupResource, names map[string]bool) bool {
	return len(resources) > 0 && s.anyRule(names, func(rule v1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(resources, func(r schema.GroupResource) bool {
			return written.RuleMayMatch(rule, r.Group, r.Resource, apiserver.Create)
		})
	})
}

// MayMutate is MayMatch for mutating policies; nil names all.
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

// MayMutateCreated is MayMatchCreated for mutating policies.
func (s *Server) MayMutateCreated(resources []schema.GroupResource, names map[string]bool) bool {
	return len(resources) > 0 && s.anyMutation(names, func(rule v1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(resources, func(r schema.GroupResource) bool {
			return written.RuleMayMatch(rule, r.Group, r.Resource, apiserver.Create)
		})
	})
}

// anyRule reports whether matches is true for a resource rule of one of the named policies (nil for
// all).
func (s *Server) anyRule(names map[string]bool, matches func(v1.NamedRuleWithOperations) bool) bool {
	return slices.ContainsFunc(s.Policies(), func(p *policy.Policy) bool {
		return (names == nil || names[p.Name]) && mayMatch(p.Source, p.Spec.MatchConstraints, matches)
	})
}

// anyMutation is anyRule for mutating policies.
func (s *Server) anyMutation(names map[string]bool, matches func(v1.NamedRuleWithOperations) bool) bool {
	return slices.ContainsFunc(s.PolicySets(), func(set *policy.Set) bool {
		return slices.ContainsFunc(set.Mutations, func(p *policy.Mutation) bool {
			return (names == nil || names[p.Name]) && mayMatch(p.Source, p.Spec.MatchConstraints, matches)
		})
	})
}

func mayMatch(source *admission.Object, constraints *v1.MatchResources, matches func(v1.NamedRuleWithOperations) bool) bool {
	return policy.MatchIsUnknown(source) || constraints != nil && slices.ContainsFunc(constraints.ResourceRules, matches)
}
