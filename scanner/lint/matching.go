package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

// checkNeverMatches reports policies, rules of policies and bindings that no request can
// match.
func checkNeverMatches(_ context.Context, c *cluster) {
	for _, p := range c.lintedPolicies() {
		if p.Spec.MatchConstraints != nil {
			c.checkMatchable(p)
			c.checkConditions(p)
		}
	}
	for _, b := range c.lintedBindings() {
		if b.Spec.MatchResources != nil && len(b.policies) > 0 {
			c.checkBindingMatches(b)
		}
	}
}

// checkMatchable reports a policy that no request can match, or rules of it.
func (c *cluster) checkMatchable(p *policySubject) {
	rules := p.Spec.MatchConstraints.ResourceRules
	if len(p.matched) == 0 {
		if !openEnded(rules) {
			c.add(remark{
				object: p.Source, fields: []string{"spec.matchConstraints"},
				message: fmt.Sprintf("policy %q can match no request: %s", p.Name, c.whyNothing(p)),
				hint:    "correct matchConstraints",
			})
		}
		return
	}
	for i, rule := range rules {
		if len(rules) == 1 || openEnded(rules[i:i+1]) || len(c.alone(p, rule)) > 0 {
			continue
		}
		c.add(remark{
			severity: report.SeverityWarning, object: p.Source,
			fields:  []string{fmt.Sprintf("spec.matchConstraints.resourceRules[%d]", i)},
			message: "no request can match this rule: " + c.whyRule(p, rule),
			hint:    "correct the rule or remove it",
		})
	}
}

// openEnded reports whether rules may match kinds without a known definition.
func openEnded(rules []v1.NamedRuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(r v1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(r.APIGroups, unknowable)
	})
}

// unknowable reports whether an API group may have resources without a known definition.
func unknowable(group string) bool { return group == "*" || !admission.BuiltinGroup(group) }

// alone returns what a policy would match with only one rule and no exclusions.
func (c *cluster) alone(p *policySubject, rule v1.NamedRuleWithOperations) []policy.RequestKind {
	one := p.DeepCopy()
	one.Spec.MatchConstraints.ResourceRules = []v1.NamedRuleWithOperations{rule}
	one.Spec.MatchConstraints.ExcludeResourceRules = nil
	matched, exempt := c.coverage.Policy(one)
	return append(matched, exempt...)
}

// whyNothing explains why a policy matches nothing.
func (c *cluster) whyNothing(p *policySubject) string {
	if len(p.exempt) > 0 {
		return fmt.Sprintf("the API server asks no policy about %s", nameOf(p.exempt[0]))
	}
	for _, rule := range p.Spec.MatchConstraints.ResourceRules {
		if len(c.alone(p, rule)) > 0 {
			return "excludeResourceRules exclude all that resourceRules match"
		}
	}
	if rules := p.Spec.MatchConstraints.ResourceRules; len(rules) == 1 {
		return c.whyRule(p, rules[0])
	}
	return "none of its rules matches anything that is served"
}

// whyRule explains why a rule matches nothing: it removes one part of the rule after another until
// the rest matches something.
func (c *cluster) whyRule(p *policySubject, rule v1.NamedRuleWithOperations) string {
	named := strings.Join(rule.Resources, ", ")
	unscoped := *rule.DeepCopy()
	unscoped.Scope = nil
	if rule.Scope != nil && len(c.alone(p, unscoped)) > 0 {
		return fmt.Sprintf("scope is %s, and that of %s is another", *rule.Scope, named)
	}
	unscoped.Operations = []v1.OperationType{v1.OperationAll}
	if found := c.alone(p, unscoped); len(found) > 0 {
		return fmt.Sprintf("%s has no requests with %s", nameOf(found[0]), joined(rule.Operations))
	}
	unscoped.APIVersions = []string{"*"}
	if found := c.alone(p, unscoped); len(found) > 0 {
		return fmt.Sprintf("%s is not served in version %s, but in %s", nameOf(found[0]), strings.Join(rule.APIVersions, ", "), found[0].Resource.Version)
	}
	return fmt.Sprintf("%s is not served in apiGroups %q", named, rule.APIGroups)
}

func joined[T ~string](words []T) string {
	var out []string
	for _, w := range words {
		out = append(out, string(w))
	}
	return strings.Join(out, ", ")
}

// checkConditions reports a match condition that is always false.
func (c *cluster) checkConditions(p *policySubject) {
	for i, m := range p.Spec.MatchConditions {
		if value, ok := expressions.Constant(m.Expression); ok && !value {
			c.add(remark{
				object: p.Source, fields: []string{fmt.Sprintf("spec.matchConditions[%d].expression", i)},
				message: fmt.Sprintf("policy %q can match no request: match condition %q is always false", p.Name, m.Name),
				hint:    "correct the condition, or remove the policy's binding to switch it off",
			})
		}
	}
}

// checkBindingMatches reports a binding that matches nothing that its policy matches.
func (c *cluster) checkBindingMatches(b *bindingSubject) {
	r := b.Spec.MatchResources
	matches := slices.ContainsFunc(b.policies, func(p *policySubject) bool {
		unknown := openEnded(p.Spec.MatchConstraints.ResourceRules) && (len(r.ResourceRules) == 0 || openEnded(r.ResourceRules))
		return unknown || len(p.matched) == 0 || len(c.coverage.Binding(b.ValidatingAdmissionPolicyBinding, p.matched)) > 0
	})
	if !matches {
		c.add(remark{
			object: b.Source, fields: []string{"spec.matchResources"},
			message: fmt.Sprintf("binding %q can match no request: its matchResources have nothing in common with matchConstraints of policy %q", b.Name, b.Spec.PolicyName),
			hint:    "correct matchResources",
		})
	}
}
