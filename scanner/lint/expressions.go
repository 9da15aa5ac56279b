package lint

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy"
)

// expression is one expression of a policy.
type expression struct {
	field, text string
	place       place
}

// place is where in a policy an expression stands, which decides what it sees.
type place int

const (
	inVariable place = iota
	inCondition
	inValidation
	inMessage
	inAnnotation
)

// expressionsOf lists all expressions of a policy.
func expressionsOf(p *policySubject) []expression {
	var all []expression
	add := func(at place, text, field string, i int) {
		if text != "" {
			all = append(all, expression{field: fmt.Sprintf(field, i), text: text, place: at})
		}
	}
	for i, v := range p.Spec.Variables {
		add(inVariable, v.Expression, "spec.variables[%d].expression", i)
	}
	for i, m := range p.Spec.MatchConditions {
		add(inCondition, m.Expression, "spec.matchConditions[%d].expression", i)
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

// checkExpressions reports what expressions say and the server does not.
func checkExpressions(_ context.Context, c *cluster) {
	for _, p := range c.policies {
		if !p.linted {
			continue
		}
		reads := map[string][]policy.Path{}
		for _, e := range expressionsOf(p) {
			reads[e.field], _ = policy.Reads(e.text) // accepted, so it parses
			c.checkReads(p, e, reads[e.field])
		}
		c.checkVariables(p, reads)
		c.checkMessages(p)
		c.checkCost(p)
	}
}

// checkReads reports what an expression reads and is never there.
func (c *cluster) checkReads(p *policySubject, e expression, reads []policy.Path) {
	for _, path := range reads {
		switch name := path[0]; {
		case name == "namespaceObject" && e.place == inCondition:
			c.at(p, e, "namespaceObject", remark{
				rule:    report.RuleNamespaceObject,
				message: "namespaceObject is null in match conditions",
				hint:    "ask in a validation, or select with namespaceSelector",
			})
		case name == "authorizer" && e.place == inAnnotation:
			c.at(p, e, "authorizer", remark{
				rule:    report.RuleAuthorizer,
				message: "audit annotations have no authorizer when they are evaluated (no such attribute(s): authorizer)",
				hint:    "ask the authorizer in a validation",
			})
		case name == "variables" && (e.place == inMessage || e.place == inAnnotation) && c.asksAuthorizer(p, path):
			c.at(p, e, path[1], remark{
				rule:    report.RuleAuthorizer,
				message: fmt.Sprintf("variable %q asks the authorizer, which is not there for messages and audit annotations", path[1]),
				hint:    "use the variable in validations only",
			})
		case name == "object" || name == "oldObject" || name == "params":
			c.checkEscapes(p, e, path)
		}
	}
}

// asksAuthorizer tells whether the variable that a path reads asks the authorizer.
func (c *cluster) asksAuthorizer(p *policySubject, path policy.Path) bool {
	return len(path) > 1 && slices.ContainsFunc(p.Spec.Variables, func(v v1.Variable) bool {
		reads, _ := policy.Reads(v.Expression)
		return v.Name == path[1] && slices.ContainsFunc(reads, func(r policy.Path) bool { return r[0] == "authorizer" })
	})
}

// escapes are what the escaped form of a name has in it, escapedWords whole names
// that are escaped because CEL reserves them (k8s.io/apiserver/pkg/cel, Escape).
// Objects are untyped at run time, and the names of their fields are not escaped.
var (
	escapes      = regexp.MustCompile(`__(dot|dash|slash|underscores)__`)
	escapedWords = regexp.MustCompile(`^__(true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)__$`)
)

func (c *cluster) checkEscapes(p *policySubject, e expression, path policy.Path) {
	for _, name := range path[1:] {
		if !escapes.MatchString(name) && !escapedWords.MatchString(name) {
			continue
		}
		c.at(p, e, name, remark{
			rule:    report.RuleEscapedField,
			message: fmt.Sprintf("the field %q is never there: names are not escaped in the objects that policies see", name),
			hint:    fmt.Sprintf("write ['%s'] behind what has the field", unescape(name)),
		})
	}
}

// unescape gives the name of the field that was meant.
func unescape(name string) string {
	if escapedWords.MatchString(name) {
		return strings.Trim(name, "_")
	}
	return strings.NewReplacer("__dot__", ".", "__dash__", "-", "__slash__", "/", "__underscores__", "__").Replace(name)
}

// at adds a remark about a word of an expression.
func (c *cluster) at(p *policySubject, e expression, word string, r remark) {
	r.object, r.fields = p.Source, []string{e.field}
	if i := strings.Index(e.text, word); i >= 0 {
		before := e.text[:i]
		r.line = 1 + strings.Count(before, "\n")
		r.column = 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	}
	c.add(r)
}

// checkVariables reports variables that are defined twice or never used.
func (c *cluster) checkVariables(p *policySubject, reads map[string][]policy.Path) {
	used := map[string]bool{}
	for _, paths := range reads {
		for _, path := range paths {
			if path[0] == "variables" && len(path) > 1 {
				used[path[1]] = true
			}
		}
	}
	last := map[string]int{}
	for i, v := range p.Spec.Variables {
		last[v.Name] = i
	}
	for i, v := range p.Spec.Variables {
		field := fmt.Sprintf("spec.variables[%d].name", i)
		switch {
		case last[v.Name] != i:
			c.add(remark{
				rule: report.RuleDuplicateVar, object: p.Source, fields: []string{field},
				message: fmt.Sprintf("variable %q is defined again in spec.variables[%d], and only that counts", v.Name, last[v.Name]),
				hint:    "remove one of them or give it another name",
			})
		case !used[v.Name]:
			c.add(remark{
				rule: report.RuleUnusedVar, object: p.Source, fields: []string{field},
				message: fmt.Sprintf("variable %q is never used", v.Name), hint: "remove it",
			})
		}
	}
}

// checkMessages reports validations whose message may not be what their author
// wants to be read.
func (c *cluster) checkMessages(p *policySubject) {
	for i, v := range p.Spec.Validations {
		field := fmt.Sprintf("spec.validations[%d]", i)
		switch {
		case v.Message != "":
		case v.MessageExpression != "":
			c.add(remark{
				rule: report.RuleMessage, object: p.Source, fields: []string{field + ".messageExpression"},
				message: "without a message, users read the expression when messageExpression fails, is empty or has several lines",
				hint:    "add a message",
			})
		case strings.Contains(strings.TrimSpace(v.Expression), "\n"):
			c.add(remark{
				rule: report.RuleMessage, severity: severityIf(warns(p), report.SeverityWarning), object: p.Source, fields: []string{field + ".expression"},
				message: "without a message, users read this expression, line breaks included; and a warning with a line break is never sent",
				hint:    "add a message",
			})
		}
	}
}

// warns tells whether a binding of a policy has the action Warn.
func warns(p *policySubject) bool {
	return slices.ContainsFunc(p.bindings, func(b *bindingSubject) bool {
		return slices.Contains(b.Spec.ValidationActions, v1.Warn)
	})
}

func severityIf(yes bool, s report.Severity) report.Severity {
	if yes {
		return s
	}
	return ""
}
