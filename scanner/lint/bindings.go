package lint

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/internal/levenshtein"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// checkUnboundPolicy reports policies without a binding.
func checkUnboundPolicy(_ context.Context, c *cluster) {
	for _, p := range c.lintedPolicies() {
		if len(p.bindings) > 0 || c.hasRefusedBinding(p) {
			continue
		}
		c.missing(remark{
			object: p.Source, fields: []string{"metadata.name"},
			message: fmt.Sprintf("no %sBinding binds policy %q: it does nothing", p.kind().Kind, p.Name),
			hint:    "add a binding with this policyName, or give that of the cluster with --context",
		})
	}
}

// checkUnknownPolicy reports bindings without a policy.
func checkUnknownPolicy(_ context.Context, c *cluster) {
	for _, b := range c.lintedBindings() {
		if len(b.policies) > 0 || c.hasRefusedPolicy(b) {
			continue
		}
		c.missing(remark{
			object: b.Source, fields: []string{"spec.policyName"},
			message: fmt.Sprintf("there is no %s %q: the binding does nothing", b.binds().Kind, b.Spec.PolicyName),
			hint:    "correct the name" + c.nearPolicy(b) + ", or give the policy of the cluster with --context",
		})
	}
}

// hasRefusedPolicy reports whether the policy of a binding exists and is refused, which
// checkRefused reports.
func (c *cluster) hasRefusedPolicy(b *bindingSubject) bool {
	return slices.ContainsFunc(c.Policies, func(o *admission.Object) bool {
		return o.GroupVersionKind().GroupKind() == b.binds() && o.Name() == b.Spec.PolicyName
	})
}

// hasRefusedBinding reports whether a binding of a policy exists and is refused.
func (c *cluster) hasRefusedBinding(p *policySubject) bool {
	return slices.ContainsFunc(c.Policies, func(o *admission.Object) bool {
		spec, _ := o.Content()["spec"].(map[string]any)
		return isBinding(o) && kinds.BoundBy(o.GroupVersionKind().GroupKind()) == p.kind() && spec["policyName"] == p.Name
	})
}

// nearPolicy suggests a policy with a name similar to the one in a binding, or with that name and
// of the other kind; "" if there is none.
func (c *cluster) nearPolicy(b *bindingSubject) string {
	for _, p := range c.policies {
		if p.kind() != b.binds() && p.Name == b.Spec.PolicyName {
			return fmt.Sprintf(" (there is a %s of that name, which takes a %sBinding)", p.kind().Kind, p.kind().Kind)
		}
		if p.kind() == b.binds() && levenshtein.Distance(p.Name, b.Spec.PolicyName) <= 2 {
			return fmt.Sprintf(" (is it %q?)", p.Name)
		}
	}
	return ""
}
