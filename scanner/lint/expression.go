package lint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/preadmit/preadmit/scanner/policy/expressions"
	"github.com/preadmit/preadmit/scanner/policy/patches"
)

// expression is one expression of a policy.
type expression struct {
	field, text string
	place       place
	// reads are the paths of variables and fields in the expression.
	reads []expressions.Path
}

// place is the part of a policy that an expression is in, which decides which variables
// it has.
type place int

const (
	inVariable place = iota
	inCondition
	inMutation
	inValidation
	inMessage
	inAnnotation
)

// expressionsOf returns all expressions of a policy.
func expressionsOf(p *policySubject) []expression {
	var all []expression
	add := func(at place, text, field string, i int) {
		if text != "" {
			reads, _ := expressions.Reads(text) // an accepted policy parses
			all = append(all, expression{field: fmt.Sprintf(field, i), text: text, place: at, reads: reads})
		}
	}
	for i, v := range p.Spec.Variables {
		add(inVariable, v.Expression, "spec.variables[%d].expression", i)
	}
	for i, m := range p.Spec.MatchConditions {
		add(inCondition, m.Expression, "spec.matchConditions[%d].expression", i)
	}
	if p.mutation != nil {
		for i, m := range p.mutation.Spec.Mutations {
			field, text := patches.ExpressionOf(m)
			add(inMutation, text, "spec.mutations[%d]."+field, i)
		}
	}
	for i, v := range p.Spec.Validations {
		add(inValidation, v.Expression, "spec.validations[%d].expression", i)
		add(inMessage, v.MessageExpression, "spec.validations[%d].messageExpression", i)
	}
	for i, a := range p.Spec.AuditAnnotations {
		add(inAnnotation, a.ValueExpression, "spec.auditAnnotations[%d].valueExpression", i)
	}
	return all
}

// eachRead calls visit for each path that an expression of a linted policy reads.
func (c *cluster) eachRead(visit func(p *policySubject, e expression, path expressions.Path)) {
	for _, p := range c.lintedPolicies() {
		for _, e := range p.expressions {
			for _, path := range e.reads {
				visit(p, e, path)
			}
		}
	}
}

// at adds a remark at the first occurrence of a word in an expression.
func (c *cluster) at(p *policySubject, e expression, word string, r remark) {
	r.object, r.fields = p.Source, []string{e.field}
	if i := strings.Index(e.text, word); i >= 0 {
		before := e.text[:i]
		r.line = 1 + strings.Count(before, "\n")
		r.column = 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	}
	c.add(r)
}
