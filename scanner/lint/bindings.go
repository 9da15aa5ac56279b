package lint

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
)

// checkBound reports policies without a binding and bindings without a policy.
func checkBound(_ context.Context, c *cluster) {
	for _, p := range c.policies {
		if p.linted && len(p.bindings) == 0 && !c.refusedBinding(p.Name) {
			c.missing(remark{
				rule: report.RuleUnboundPolicy, object: p.Source, fields: []string{"metadata.name"},
				message: fmt.Sprintf("no ValidatingAdmissionPolicyBinding binds policy %q: it does nothing", p.Name),
				hint:    "add a binding with this policyName, or give the one that is elsewhere with --context",
			})
		}
	}
	for _, b := range c.bindings {
		if b.linted && len(b.policies) == 0 && !c.refusedPolicy(b.Spec.PolicyName) {
			c.missing(remark{
				rule: report.RuleUnknownPolicy, object: b.Source, fields: []string{"spec.policyName"},
				message: fmt.Sprintf("there is no ValidatingAdmissionPolicy %q: the binding does nothing", b.Spec.PolicyName),
				hint:    "correct the name" + c.nearPolicy(b.Spec.PolicyName) + ", or give the policy that is elsewhere with --context",
			})
		}
	}
}

// refusedPolicy: what is refused is told already.
func (c *cluster) refusedPolicy(name string) bool {
	return slices.ContainsFunc(c.Policies, func(o *admission.Object) bool { return !isBinding(o) && o.Name() == name })
}

func (c *cluster) refusedBinding(policyName string) bool {
	return slices.ContainsFunc(c.Policies, func(o *admission.Object) bool {
		spec, _ := o.Content()["spec"].(map[string]any)
		return isBinding(o) && spec["policyName"] == policyName
	})
}

// nearPolicy suggests a policy whose name differs in little.
func (c *cluster) nearPolicy(name string) string {
	for _, p := range c.policies {
		if distance(p.Name, name) <= 2 {
			return fmt.Sprintf(" (is it %q?)", p.Name)
		}
	}
	return ""
}

// distance is how many characters must be put in, left out or replaced to make one
// word of another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
