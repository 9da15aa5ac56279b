package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// match describes whether a policy or binding matches a request, and the resource and kind that it
// sees.
type match struct {
	matches  bool
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
	// err is a configuration error of the policy or binding.
	err error
	// unknown is the reason why it is not known whether it matches.
	unknown string
}

// matcher is the API server's own, with a cluster's namespaces.
type matcher struct {
	cluster  *admission.Cluster
	upstream generic.PolicyMatcher
}

// isByRules reports whether the match of a policy only depends on rules without names.
func isByRules(c *v1.MatchResources) bool {
	names := func(r v1.NamedRuleWithOperations) bool { return len(r.ResourceNames) > 0 }
	return c != nil && isEmpty(c.NamespaceSelector) && isEmpty(c.ObjectSelector) &&
		!slices.ContainsFunc(c.ResourceRules, names) && !slices.ContainsFunc(c.ExcludeResourceRules, names)
}

func isEmpty(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}

func newMatcher(c *admission.Cluster) *matcher {
	return &matcher{cluster: c, upstream: generic.NewPolicyMatcher(matching.NewMatcher(namespaceLister{cluster: c}, admission.Client{Cluster: c}))}
}

// policy returns the match of a policy's constraints.
func (m *matcher) policy(req *admission.Request, p *Policy) match {
	definition, unsure := p.ValidatingAdmissionPolicy, ""
	if c := definition.Spec.MatchConstraints; c != nil {
		if why := m.unknownNamespace(req, c.NamespaceSelector, "spec.matchConstraints.namespaceSelector"); why != "" {
			definition, unsure = definition.DeepCopy(), why
			definition.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{}
		}
		if why := unknownObject(req, c.ObjectSelector, "spec.matchConstraints.objectSelector"); why != "" {
			definition, unsure = definition.DeepCopy(), cmp.Or(unsure, why)
			definition.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{}
		}
	}
	matches, resource, kind, err := m.upstream.DefinitionMatches(req, req.Interfaces, validating.NewValidatingAdmissionPolicyAccessor(definition))
	if !matches && err == nil && m.isAssumed(req) {
		definition = definition.DeepCopy()
		if unversion(definition.Spec.MatchConstraints) {
			matches, resource, kind, err = m.upstream.DefinitionMatches(req, req.Interfaces, validating.NewValidatingAdmissionPolicyAccessor(definition))
			unsure = otherVersion(req, "spec.matchConstraints")
		}
	}
	return settle(match{matches: matches, resource: resource, kind: kind, err: err}, unsure)
}

func (m *matcher) binding(req *admission.Request, b *Binding) match {
	binding, unsure := b.ValidatingAdmissionPolicyBinding, ""
	if r := binding.Spec.MatchResources; r != nil {
		if why := m.unknownNamespace(req, r.NamespaceSelector, "spec.matchResources.namespaceSelector"); why != "" {
			binding, unsure = binding.DeepCopy(), why
			binding.Spec.MatchResources.NamespaceSelector = &metav1.LabelSelector{}
		}
		if why := unknownObject(req, r.ObjectSelector, "spec.matchResources.objectSelector"); why != "" {
			binding, unsure = binding.DeepCopy(), cmp.Or(unsure, why)
			binding.Spec.MatchResources.ObjectSelector = &metav1.LabelSelector{}
		}
	}
	matches, err := m.upstream.BindingMatches(req, req.Interfaces, validating.NewValidatingAdmissionPolicyBindingAccessor(binding))
	if !matches && err == nil && m.isAssumed(req) {
		binding = binding.DeepCopy()
		if unversion(binding.Spec.MatchResources) {
			matches, err = m.upstream.BindingMatches(req, req.Interfaces, validating.NewValidatingAdmissionPolicyBindingAccessor(binding))
			unsure = otherVersion(req, "spec.matchResources")
		}
	}
	return settle(match{matches: matches, err: err}, unsure)
}

// isAssumed reports whether the kind of a request's object is known by name only.
func (m *matcher) isAssumed(req *admission.Request) bool {
	served, ok := m.cluster.Resource(req.GetKind())
	return ok && served.Assumed
}

// unversion makes rules match every version, if equivalent versions match. The versions of a kind
// that nothing defines are not known.
func unversion(r *v1.MatchResources) bool {
	if r == nil || r.MatchPolicy != nil && *r.MatchPolicy == v1.Exact {
		return false
	}
	for i := range r.ResourceRules {
		r.ResourceRules[i].APIVersions = []string{"*"}
	}
	return len(r.ResourceRules) > 0
}

func otherVersion(req *admission.Request, field string) string {
	return fmt.Sprintf("%s is for another version of %s, and the CustomResourceDefinition is not in the repository, so the object cannot be converted; add it, or give it with --context", field, req.GetKind().GroupKind())
}

// settle returns a match as unknown if it matches only as long as some reason does not apply.
func settle(m match, unknown string) match {
	if m.matches && m.err == nil {
		m.unknown = unknown
	}
	return m
}

// unknownNamespace returns the reason why it is not known whether a namespace selector selects the
// namespace of a request: nothing defines the namespace, or some of its labels are unknown. It
// returns "" if it is known.
func (m *matcher) unknownNamespace(req *admission.Request, s *metav1.LabelSelector, selector string) string {
	if isEmpty(s) {
		return ""
	}
	if isNamespace(req) {
		fields, _ := req.Unknown()
		return unknown.LabelsOf(fields).Selected(s, objectLabels(req.GetObject()), selector+" reads a label of the namespace:")
	}
	if req.GetNamespace() == "" {
		return ""
	}
	ns, assumed, err := m.cluster.Namespace(req.GetNamespace())
	if err != nil {
		return ""
	}
	if !assumed {
		return unknown.LabelsOf(m.cluster.UnknownOfNamespace(ns.Name)).Selected(s, ns.Labels, fmt.Sprintf("%s reads a label of namespace %q:", selector, ns.Name))
	}
	if unknown.LabelsBut(corev1.LabelMetadataName).Selected(s, ns.Labels, "") == "" {
		return ""
	}
	return fmt.Sprintf("%s reads labels of namespace %q, which is not defined; add the Namespace to the repository, or give it with --context", selector, ns.Name)
}

// unknownObject returns the reason why it is not known whether an object selector selects the object
// of a request, or the old object; "" if it is known.
func unknownObject(req *admission.Request, s *metav1.LabelSelector, selector string) string {
	fields, oldFields := req.Unknown()
	if isEmpty(s) || len(fields)+len(oldFields) == 0 {
		return ""
	}
	text := selector + " reads a label:"
	return cmp.Or(
		unknown.LabelsOf(fields).Selected(s, objectLabels(req.GetObject()), text),
		unknown.LabelsOf(oldFields).Selected(s, objectLabels(req.GetOldObject()), text))
}

func objectLabels(obj runtime.Object) labels.Set {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return m.GetLabels()
}

// isNamespace reports whether a request is for a Namespace that is matched by its own labels: one
// that is not deleted.
func isNamespace(req *admission.Request) bool {
	r := req.GetResource()
	return r.Group == "" && r.Resource == "namespaces" && req.GetSubresource() == "" && req.GetOperation() != k8sadmission.Delete
}

// namespaceLister lists the namespaces of a cluster for upstream's matcher.
type namespaceLister struct{ cluster *admission.Cluster }

// Get implements corev1listers.NamespaceLister.
func (l namespaceLister) Get(name string) (*corev1.Namespace, error) {
	ns, _, err := l.cluster.Namespace(name)
	return ns, err
}

// List implements corev1listers.NamespaceLister; the matcher never lists.
func (l namespaceLister) List(labels.Selector) ([]*corev1.Namespace, error) {
	return nil, errors.New("namespaces cannot be listed")
}

var _ corev1listers.NamespaceLister = namespaceLister{}
