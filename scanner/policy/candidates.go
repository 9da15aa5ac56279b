package policy

import (
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"

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

// class has what is equal for all requests of a class.
type class struct {
	candidates []candidate
	// applications are the policies that apply to each request; set is false if they differ.
	applications []Application
	set          bool
}

// candidate is a policy whose rules match the requests of a class.
type candidate struct {
	*hook
	// byRules is the match of each request; nil if it depends on more than rules.
	byRules *match
}

// match returns how a policy matches a request of its class.
func (c *candidate) match(m *matcher, req *admission.Request) match {
	if c.byRules != nil {
		return *c.byRules
	}
	return m.policy(req, c.policy)
}

// isByRules reports whether only rules, without names, decide if the policy applies to a request.
func (h *hook) isByRules() bool {
	return h.policy.Spec.ParamKind == nil && isByRules(h.policy.Spec.MatchConstraints) &&
		!slices.ContainsFunc(h.bindings, func(b *Binding) bool { return b.Spec.MatchResources != nil })
}

// class returns the class of a request, with the policies in their order. The API server's matcher finds them
// once for each class.
func (e *Engine) class(req *admission.Request) *class {
	key := requestClass{req.GetResource(), req.GetKind(), req.GetSubresource(), req.GetOperation(), req.GetNamespace() != ""}
	if known, ok := e.classes.Load(key); ok {
		return known.(*class)
	}
	found := &class{set: true}
	for i := range e.hooks {
		h := &e.hooks[i]
		if !MatchIsUnknown(h.policy.Source) && !e.matcher.mayMatch(req, h.rules) {
			continue
		}
		c := candidate{hook: h}
		if isByRules(h.policy.Spec.MatchConstraints) {
			c.byRules = new(e.matcher.policy(req, h.policy))
		}
		found.candidates = append(found.candidates, c)
		found.set = found.set && h.isByRules()
	}
	if found.set {
		found.applications = e.applicationsOf(found, req)
	}
	e.classes.Store(key, found)
	return found
}

// mayMatch also returns true when matching fails, so that the failure is reported.
func (m *matcher) mayMatch(req *admission.Request, rules *v1.ValidatingAdmissionPolicy) bool {
	loosely := m.policy(req, &Policy{ValidatingAdmissionPolicy: rules})
	return loosely.matches || loosely.err != nil
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
