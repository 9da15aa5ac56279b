package scanner

import (
	"slices"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	v1 "k8s.io/api/admissionregistration/v1"
	apiserver "k8s.io/apiserver/pkg/admission"
)

// mayMatch reports whether one of the named policies could match a request about an
// object, going by its rules only. It spares the requests no policy asks for; what
// really matches is the engine's to say, so this must never be too narrow.
func (j *judge) mayMatch(names map[string]bool, o *admission.Object, op apiserver.Operation) bool {
	kind := o.GroupVersionKind()
	resource := ""
	if r, ok := j.cluster.Resource(kind); ok {
		resource = r.Resource
	}
	for _, s := range j.bench {
		for _, p := range s.set.Policies {
			if names[p.Name] && p.Spec.MatchConstraints != nil && slices.ContainsFunc(p.Spec.MatchConstraints.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
				return policy.RuleMayMatch(rule, kind.Group, resource, op)
			}) {
				return true
			}
		}
	}
	return false
}
