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
)

// checkMatching reports rules that name what is not served, and policies that no
// request can match.
func checkMatching(_ context.Context, c *cluster) {
	for _, p := range c.policies {
		if !p.linted || p.Spec.MatchConstraints == nil {
			continue
		}
		c.checkRules(p.Source, "spec.matchConstraints", p.Spec.MatchConstraints)
		c.checkMatchable(p)
		c.checkConditions(p)
	}
	for _, b := range c.bindings {
		if r := b.Spec.MatchResources; b.linted && r != nil {
			c.checkRules(b.Source, "spec.matchResources", r)
		}
	}
}

// checkRules reports rules, and exclusions, that name what is not served.
func (c *cluster) checkRules(o *admission.Object, at string, r *v1.MatchResources) {
	for i, rule := range r.ResourceRules {
		c.checkRule(o, fmt.Sprintf("%s.resourceRules[%d]", at, i), rule.Rule)
	}
	for i, rule := range r.ExcludeResourceRules {
		c.checkRule(o, fmt.Sprintf("%s.excludeResourceRules[%d]", at, i), rule.Rule)
	}
}

// checkMatchable reports a policy that no request can match, or rules of it.
func (c *cluster) checkMatchable(p *policySubject) {
	rules := p.Spec.MatchConstraints.ResourceRules
	if len(p.matched) == 0 {
		if !openEnded(rules) {
			c.add(remark{
				rule: report.RuleNeverMatches, object: p.Source, fields: []string{"spec.matchConstraints"},
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
			rule: report.RuleNeverMatches, severity: report.SeverityWarning, object: p.Source,
			fields:  []string{fmt.Sprintf("spec.matchConstraints.resourceRules[%d]", i)},
			message: "no request can match this rule: " + c.whyRule(p, rule),
			hint:    "correct the rule or remove it",
		})
	}
}

// openEnded tells whether rules may match kinds that nothing here defines.
func openEnded(rules []v1.NamedRuleWithOperations) bool {
	return slices.ContainsFunc(rules, func(r v1.NamedRuleWithOperations) bool {
		return slices.ContainsFunc(r.APIGroups, unknowable)
	})
}

// unknowable tells whether an API group may have resources that nothing here defines.
func unknowable(group string) bool { return group == "*" || !admission.BuiltinGroup(group) }

// alone is what a policy could match if it had only one rule and no exclusions.
func (c *cluster) alone(p *policySubject, rule v1.NamedRuleWithOperations) []policy.Sight {
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

// whyRule explains why a rule matches nothing: by what would have to be left out of
// it to match something.
func (c *cluster) whyRule(p *policySubject, rule v1.NamedRuleWithOperations) string {
	named := strings.Join(rule.Resources, ", ")
	unscoped := *rule.DeepCopy()
	unscoped.Scope = nil
	if rule.Scope != nil && len(c.alone(p, unscoped)) > 0 {
		return fmt.Sprintf("scope is %s, and that of %s is another", *rule.Scope, named)
	}
	unscoped.Operations = []v1.OperationType{v1.OperationAll}
	if found := c.alone(p, unscoped); len(found) > 0 {
		return fmt.Sprintf("%s is never asked for with %s", nameOf(found[0]), joined(rule.Operations))
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

// checkConditions reports a match condition that is just false.
func (c *cluster) checkConditions(p *policySubject) {
	for i, m := range p.Spec.MatchConditions {
		if value, ok := policy.Constant(m.Expression); ok && !value {
			c.add(remark{
				rule: report.RuleNeverMatches, object: p.Source, fields: []string{fmt.Sprintf("spec.matchConditions[%d].expression", i)},
				message: fmt.Sprintf("policy %q can match no request: match condition %q is always false", p.Name, m.Name),
				hint:    "correct the condition, or remove the policy's binding to switch it off",
			})
		}
	}
}

// checkBindingsMatch reports bindings that match nothing of what their policy matches.
func checkBindingsMatch(_ context.Context, c *cluster) {
	for _, b := range c.bindings {
		r := b.Spec.MatchResources
		if !b.linted || r == nil || len(b.policies) == 0 {
			continue
		}
		idle := !slices.ContainsFunc(b.policies, func(p *policySubject) bool {
			unknown := openEnded(p.Spec.MatchConstraints.ResourceRules) && (len(r.ResourceRules) == 0 || openEnded(r.ResourceRules))
			return unknown || len(p.matched) == 0 || len(c.coverage.Binding(b.ValidatingAdmissionPolicyBinding, p.matched)) > 0
		})
		if idle {
			c.add(remark{
				rule: report.RuleNeverMatches, object: b.Source, fields: []string{"spec.matchResources"},
				message: fmt.Sprintf("binding %q can match no request: its matchResources have nothing in common with matchConstraints of policy %q", b.Name, b.Spec.PolicyName),
				hint:    "correct matchResources",
			})
		}
	}
}
