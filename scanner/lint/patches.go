package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/policy/expressions"
	"github.com/preadmit/preadmit/scanner/policy/patches"
)

// eachMutation calls visit for each mutation of the linted policies, with the field of its
// expression.
func (c *cluster) eachMutation(visit func(p *policySubject, m v1.Mutation, field string)) {
	for _, p := range c.lintedPolicies() {
		if p.mutation == nil {
			continue
		}
		for i, m := range p.mutation.Spec.Mutations {
			field, _ := patches.ExpressionOf(m)
			visit(p, m, fmt.Sprintf("spec.mutations[%d].%s", i, field))
		}
	}
}

// checkPatch reports mutations whose patches the API server does not accept for any request.
func checkPatch(_ context.Context, c *cluster) {
	checker := patches.NewChecker(c.State)
	c.eachMutation(func(p *policySubject, m v1.Mutation, field string) {
		for _, problem := range checker.Patches(m, c.matchedKinds(p)) {
			c.add(remark{
				object: p.Source, fields: []string{field}, line: problem.Line, column: problem.Column,
				message: problem.Message, hint: problem.Hint,
			})
		}
	})
}

// checkMutationTypes reports fields that expressions of mutating policies read and that none of the
// matched kinds has.
func checkMutationTypes(c *cluster) {
	checker := patches.NewChecker(c.State)
	for _, p := range c.lintedPolicies() {
		if p.mutation == nil {
			continue
		}
		kinds := c.matchedKinds(p)
		for _, e := range p.expressions {
			for _, problem := range checker.Reads(e.text, kinds) {
				c.add(remark{
					object: p.Source, fields: []string{e.field}, line: problem.Line, column: problem.Column,
					message: problem.Message, hint: problem.Hint,
				})
			}
		}
	}
}

// matchedKinds returns the kinds of the objects that a policy matches, nil if they are not all
// known, because of wildcards, subresources or groups without a known definition.
func (c *cluster) matchedKinds(p *policySubject) []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for _, rule := range p.Spec.MatchConstraints.ResourceRules {
		words := slices.Concat(rule.APIGroups, rule.APIVersions, rule.Resources)
		if slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "*/") }) {
			return nil
		}
		for _, group := range rule.APIGroups {
			unknown := func(resource string) bool { return !c.serves([]string{group}, rule.APIVersions, []string{resource}) }
			if unknowable(group) && slices.ContainsFunc(rule.Resources, unknown) {
				return nil
			}
		}
		for _, r := range c.resources {
			if slices.Contains(rule.APIGroups, r.Group) && slices.Contains(rule.APIVersions, r.Version) && slices.Contains(rule.Resources, r.Resource) && !slices.Contains(all, r.Kind) {
				all = append(all, r.Kind)
			}
		}
	}
	return all
}

// checkReinvocation reports mutations that append to a list unconditionally, in policies that are
// reinvoked.
func checkReinvocation(_ context.Context, c *cluster) {
	c.eachMutation(func(p *policySubject, m v1.Mutation, field string) {
		if p.mutation.Spec.ReinvocationPolicy != v1.IfNeededReinvocationPolicy {
			return
		}
		_, text := patches.ExpressionOf(m)
		structs, _ := expressions.Structs(text) // an accepted policy parses
		for i := range structs {
			op, path := structs[i].Field("op"), structs[i].Field("path")
			if structs[i].Type != "JSONPatch" || op == nil || path == nil || op.Text != "add" || !strings.HasSuffix(path.Tail, "/-") || p.readsBelow(path.Text) {
				continue
			}
			c.add(remark{
				object: p.Source, fields: []string{field}, line: path.Line, column: path.Column,
				message: "the element is appended twice: reinvocationPolicy is IfNeeded, and the API server invokes a policy again after any policy changed the object, itself too",
				hint:    "write reinvocationPolicy: Never, or append only what the list does not have",
			})
		}
	})
}

// readsBelow reports whether an expression of a policy reads the list that a JSON patch appends to,
// or a field that contains it. An empty path means any list.
func (p *policySubject) readsBelow(pointer string) bool {
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(pointer, "/"), "/-"), "/")
	return slices.ContainsFunc(p.expressions, func(e expression) bool {
		return slices.ContainsFunc(e.reads, func(read expressions.Path) bool {
			if read[0] != "object" {
				return false
			}
			common := min(len(read)-1, len(segments))
			return pointer == "" || slices.Equal(read[1:1+common], segments[:common])
		})
	})
}
