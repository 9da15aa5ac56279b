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
		if len(p.bindings) > 0 || c.hasRefusedBinding(p.Name) {
			continue
		}
		c.missing(remark{
			object: p.Source, fields: []string{"metadata.name"},
			message: fmt.Sprintf("no ValidatingAdmissionPolicyBinding binds policy %q: it does nothing", p.Name),
			hint:    "add a binding with this policyName, or give the one that is elsewhere with --context",
		})
	}
}

// checkUnknownPolicy reports bindings without a policy.
func checkUnknownPolicy(_ context.Context, c *cluster) {
	for _, b := range c.lintedBindings() {
		if len(b.policies) > 0 || c.hasRefusedPolicy(b.Spec.PolicyName) {
			continue
		}
		c.missing(remark{
			object: b.Source, fields: []string{"spec.policyName"},
			message: fmt.Sprintf("there is no ValidatingAdmissionPolicy %q: the binding does nothing", b.Spec.PolicyName),
			hint:    "correct the name" + c.nearPolicy(b.Spec.PolicyName) + ", or give the policy that is elsewhere with --context",
		})
	}
}

// hasRefusedPolicy reports whether a policy of this name exists and is refused. The
// rule refused reports it.
func (c *cluster) hasRefusedPolicy(name string) bool {
	return slices.ContainsFunc(c.Policies, func(o *admission.Object) bool {
		return o.GroupVersionKind().GroupKind() == kinds.Policy && o.Name() == name
	})
}

// hasRefusedBinding reports whether a binding of this policy exists and is refused.
func (c *cluster) hasRefusedBinding(policyName string) bool {
	return slices.ContainsFunc(c.Policies, func(o *admission.Object) bool {
		spec, _ := o.Content()["spec"].(map[string]any)
		return isBinding(o) && spec["policyName"] == policyName
	})
}

// nearPolicy suggests a policy with nearly the same name, "" if there is none.
func (c *cluster) nearPolicy(name string) string {
	for _, p := range c.policies {
		if levenshtein.Distance(p.Name, name) <= 2 {
			return fmt.Sprintf(" (is it %q?)", p.Name)
		}
	}
	return ""
}
