package policy

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/preadmit/preadmit/scanner/admission"
)

// match is whether and as what a policy or binding sees a request.
type match struct {
	matches  bool
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
	// err is a configuration error of the policy or binding.
	err error
	// unknown says why it cannot be told whether it matches.
	unknown string
}

// matcher is the API server's own, over a cluster's namespaces.
type matcher struct {
	cluster  *admission.Cluster
	upstream generic.PolicyMatcher
}

func newMatcher(c *admission.Cluster) *matcher {
	return &matcher{cluster: c, upstream: generic.NewPolicyMatcher(matching.NewMatcher(namespaceLister{cluster: c}, admission.Client{Cluster: c}))}
}

func (m *matcher) policy(req *admission.Request, p *Policy) match {
	definition, unknown := p.ValidatingAdmissionPolicy, ""
	if c := definition.Spec.MatchConstraints; c != nil && m.needsLabels(req, c.NamespaceSelector) {
		definition = definition.DeepCopy()
		definition.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{}
		unknown = unknownLabels(req, "spec.matchConstraints.namespaceSelector")
	}
	matches, resource, kind, err := m.upstream.DefinitionMatches(req, req.Interfaces, validating.NewValidatingAdmissionPolicyAccessor(definition))
	return settle(match{matches: matches, resource: resource, kind: kind, err: err}, unknown)
}

func (m *matcher) binding(req *admission.Request, b *Binding) match {
	binding, unknown := b.ValidatingAdmissionPolicyBinding, ""
	if r := binding.Spec.MatchResources; r != nil && m.needsLabels(req, r.NamespaceSelector) {
		binding = binding.DeepCopy()
		binding.Spec.MatchResources.NamespaceSelector = &metav1.LabelSelector{}
		unknown = unknownLabels(req, "spec.matchResources.namespaceSelector")
	}
	matches, err := m.upstream.BindingMatches(req, req.Interfaces, validating.NewValidatingAdmissionPolicyBindingAccessor(binding))
	return settle(match{matches: matches, err: err}, unknown)
}

// settle: what would match but for labels nobody knows is unknown.
func settle(m match, unknown string) match {
	if m.matches && m.err == nil {
		m.unknown = unknown
	}
	return m
}

func unknownLabels(req *admission.Request, selector string) string {
	return fmt.Sprintf("%s asks for labels of namespace %q, which nothing defines; add the Namespace to the repository or give it with --context", selector, req.GetNamespace())
}

// needsLabels reports whether a namespace selector depends on labels that are not
// known: those of a namespace nothing defines, except its name, which is always
// a label (KEP-2161).
func (m *matcher) needsLabels(req *admission.Request, s *metav1.LabelSelector) bool {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 || req.GetNamespace() == "" || isNamespace(req) {
		return false
	}
	ns, assumed, err := m.cluster.Namespace(req.GetNamespace())
	if err != nil || !assumed {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false // a configuration error, whatever the labels
	}
	requirements, _ := selector.Requirements()
	needs := false
	for _, r := range requirements {
		switch {
		case r.Key() != corev1.LabelMetadataName:
			needs = true
		case !r.Matches(labels.Set(ns.Labels)):
			return false // does not match, whatever the other labels
		}
	}
	return needs
}

// isNamespace: a Namespace is matched by its own labels, unless it is deleted.
func isNamespace(req *admission.Request) bool {
	r := req.GetResource()
	return r.Group == "" && r.Resource == "namespaces" && req.GetSubresource() == "" && req.GetOperation() != k8sadmission.Delete
}

// namespaceLister returns upstream's matcher the namespaces of a cluster.
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
