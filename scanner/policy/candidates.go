package policy

import (
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/preadmit/preadmit/scanner/admission"
)

// requestClass is the part of a request that resource rules read, except for names. Requests of a
// class are matched by the same rules.
type requestClass struct {
	resource    schema.GroupVersionResource
	kind        schema.GroupVersionKind
	subresource string
	operation   k8sadmission.Operation
	namespaced  bool
}

// candidates returns the policies whose rules match the class of a request, in their order. The API
// server's matcher finds them once for each class.
func (e *Engine) candidates(req *admission.Request) []*hook {
	class := requestClass{req.GetResource(), req.GetKind(), req.GetSubresource(), req.GetOperation(), req.GetNamespace() != ""}
	if known, ok := e.classes.Load(class); ok {
		return known.([]*hook)
	}
	var found []*hook
	for i := range e.hooks {
		if h := &e.hooks[i]; MatchIsUnknown(h.policy.Source) || e.matcher.mayMatch(req, h.rules) {
			found = append(found, h)
		}
	}
	e.classes.Store(class, found)
	return found
}

// mayMatch also returns true when matching fails, so that the failure is reported.
func (m *matcher) mayMatch(req *admission.Request, rules *v1.ValidatingAdmissionPolicy) bool {
	matches, _, _, err := m.upstream.DefinitionMatches(req, req.Interfaces, validating.NewValidatingAdmissionPolicyAccessor(rules))
	if !matches && err == nil && m.isAssumed(req) {
		rules = rules.DeepCopy()
		if unversion(rules.Spec.MatchConstraints) {
			matches, _, _, err = m.upstream.DefinitionMatches(req, req.Interfaces, validating.NewValidatingAdmissionPolicyAccessor(rules))
		}
	}
	return matches || err != nil
}

// rulesOnly returns a policy that matches every request that p matches, by rules that depend only on
// the request's class.
func rulesOnly(p *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicy {
	loose := &v1.ValidatingAdmissionPolicy{Spec: v1.ValidatingAdmissionPolicySpec{MatchConstraints: p.Spec.MatchConstraints.DeepCopy()}}
	if loose.Spec.MatchConstraints != nil {
		unselect(loose.Spec.MatchConstraints)
	}
	return loose
}
