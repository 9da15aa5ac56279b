package policy

import (
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/preadmit/preadmit/scanner/admission"
)

// RequestKind is one kind of request: a resource, a subresource and an operation.
type RequestKind struct {
	Resource admission.Resource
	// Subresource is empty for the resource itself.
	Subresource string
	Operation   k8sadmission.Operation
}

// Coverage finds the kinds of requests that policies and bindings can match, whatever the object: by
// resource, subresource, operation and scope, with the API server's own matcher. Selectors and
// resource names count as matching.
type Coverage struct {
	matcher    *matcher
	interfaces k8sadmission.ObjectInterfaces
	exempt     map[schema.GroupResource]bool
	all        []RequestKind
}

// NewCoverage returns the Coverage of all resources that a cluster serves.
func NewCoverage(c *admission.Cluster) *Coverage {
	v := &Coverage{matcher: newMatcher(c), interfaces: c.Matching(), exempt: exempt()}
	for _, r := range c.Resources() {
		v.add(r, "")
		for name := range r.Subresources {
			v.add(r, name)
		}
	}
	return v
}

func (v *Coverage) add(r admission.Resource, subresource string) {
	for _, operation := range r.Operations(subresource) {
		v.all = append(v.all, RequestKind{Resource: r, Subresource: subresource, Operation: operation})
	}
}

// Policy returns the requests that a policy can match, and separately those that its rules name but
// that the API server exempts from policies (reviews, and the configuration of admission).
func (v *Coverage) Policy(p *v1.ValidatingAdmissionPolicy) (matched, exempt []RequestKind) {
	accessor := validating.NewValidatingAdmissionPolicyAccessor(rulesOnly(p))
	for _, s := range v.all {
		if ok, _, _, err := v.matcher.upstream.DefinitionMatches(s.attributes(), v.interfaces, accessor); err != nil || !ok {
			continue
		}
		if v.exempt[s.Resource.GroupResource()] {
			exempt = append(exempt, s)
		} else {
			matched = append(matched, s)
		}
	}
	return matched, exempt
}

// Binding returns those of the requests matched by a policy that a binding can match too.
func (v *Coverage) Binding(b *v1.ValidatingAdmissionPolicyBinding, matched []RequestKind) []RequestKind {
	open := b.DeepCopy()
	if open.Spec.MatchResources != nil {
		unselect(open.Spec.MatchResources)
	}
	accessor := validating.NewValidatingAdmissionPolicyBindingAccessor(open)
	var both []RequestKind
	for _, s := range matched {
		if ok, err := v.matcher.upstream.BindingMatches(s.attributes(), v.interfaces, accessor); err == nil && ok {
			both = append(both, s)
		}
	}
	return both
}

// unselect removes from rules everything that depends on the object. An exclusion of some names
// excludes no request as a whole, so it is removed.
func unselect(r *v1.MatchResources) {
	r.NamespaceSelector, r.ObjectSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	for i := range r.ResourceRules {
		r.ResourceRules[i].ResourceNames = nil
	}
	r.ExcludeResourceRules = slices.DeleteFunc(r.ExcludeResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		return len(rule.ResourceNames) > 0
	})
}

// InNamespace reports whether requests of the kind have a namespace. Requests for a Namespace object
// do: its own name.
func (s RequestKind) InNamespace() bool { return s.Resource.Namespaced || s.ofNamespaces() }

func (s RequestKind) ofNamespaces() bool {
	return s.Resource.Group == "" && s.Resource.Resource == "namespaces"
}

func (s RequestKind) attributes() k8sadmission.Attributes {
	namespace := ""
	if s.InNamespace() {
		namespace = metav1.NamespaceDefault
	}
	kind := s.Resource.Kind
	if s.Subresource != "" {
		kind = s.Resource.Subresources[s.Subresource]
	}
	return k8sadmission.NewAttributesRecord(nil, nil, kind, namespace, metav1.NamespaceDefault,
		s.Resource.GroupVersionResource, s.Subresource, s.Operation, nil, false, nil)
}
