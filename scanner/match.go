package scanner

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/scanner/admission"
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
				return ruleMayMatch(rule, kind.Group, resource, op)
			}) {
				return true
			}
		}
	}
	return false
}

// ruleMayMatch leaves versions aside, and resources that nobody knows.
func ruleMayMatch(rule v1.NamedRuleWithOperations, group, resource string, op apiserver.Operation) bool {
	return slices.ContainsFunc(rule.Operations, func(o v1.OperationType) bool { return o == v1.OperationAll || string(o) == string(op) }) &&
		slices.ContainsFunc(rule.APIGroups, func(g string) bool { return g == "*" || g == group || equivalentGroups(g, group) }) &&
		(resource == "" || slices.ContainsFunc(rule.Resources, func(r string) bool {
			name, _, _ := strings.Cut(r, "/")
			return name == "*" || name == resource
		}))
}

// equivalentGroups reports whether one resource is served in both groups, so that a
// rule for one matches requests of the other: events are all there is.
func equivalentGroups(a, b string) bool {
	const events = "events.k8s.io"
	return a == "" && b == events || a == events && b == ""
}
