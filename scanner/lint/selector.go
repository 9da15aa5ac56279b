package lint

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// checkNamespaceSelector reports namespaceSelectors that select none of the known
// namespaces. It reports nothing if no Namespace is defined.
func checkNamespaceSelector(_ context.Context, c *cluster) {
	known := c.namespaces()
	if len(known) == 0 {
		return
	}
	for _, p := range c.lintedPolicies() {
		if slices.ContainsFunc(p.matched, policy.RequestKind.InNamespace) {
			c.checkSelector(p.Source, "spec.matchConstraints", p.Spec.MatchConstraints, known)
		}
	}
	for _, b := range c.lintedBindings() {
		c.checkSelector(b.Source, "spec.matchResources", b.Spec.MatchResources, known)
	}
}

// namespaces returns the labels of the defined namespaces, and of those that every cluster has. It
// returns nil if none is defined.
func (c *cluster) namespaces() []labels.Set {
	names := c.State.Namespaces()
	if len(names) == 0 {
		return nil
	}
	var sets []labels.Set
	for _, name := range append(names, admission.SystemNamespaces()...) {
		ns, _, err := c.State.Namespace(name)
		if err != nil { // the server refuses the Namespace
			continue
		}
		set := labels.Set{corev1.LabelMetadataName: name}
		for key, value := range ns.Labels {
			set[key] = value
		}
		sets = append(sets, set)
	}
	return sets
}

func (c *cluster) checkSelector(o *admission.Object, at string, r *v1.MatchResources, known []labels.Set) {
	if r == nil || r.NamespaceSelector == nil {
		return
	}
	selector, err := metav1.LabelSelectorAsSelector(r.NamespaceSelector)
	if err != nil || slices.ContainsFunc(known, func(s labels.Set) bool { return selector.Matches(s) }) {
		return
	}
	c.missing(remark{
		object: o, fields: []string{at + ".namespaceSelector"},
		message: fmt.Sprintf("the namespaceSelector %q matches none of the namespaces that are known: %s", selector.String(), abbreviate(c.State.Namespaces())),
		hint:    "correct the selector or the labels of the namespaces, or give the Namespaces of the cluster with --context",
	})
}
