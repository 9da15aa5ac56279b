package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/report"
)

// checkMessage reports validations for which users may see a text other than the message that the
// author intends.
func checkMessage(_ context.Context, c *cluster) {
	for _, p := range c.lintedPolicies() {
		for i, v := range p.Spec.Validations {
			c.checkMessageOf(p, v, fmt.Sprintf("spec.validations[%d]", i))
		}
	}
}

func (c *cluster) checkMessageOf(p *policySubject, v v1.Validation, field string) {
	switch {
	case v.Message != "":
	case v.MessageExpression != "":
		c.add(remark{
			object: p.Source, fields: []string{field + ".messageExpression"},
			message: "without a message, users read the expression when messageExpression fails, is empty or has several lines",
			hint:    "add a message",
		})
	case strings.Contains(strings.TrimSpace(v.Expression), "\n"):
		r := remark{
			object: p.Source, fields: []string{field + ".expression"},
			message: "without a message, users read this expression, line breaks included; and a warning with a line break is never sent",
			hint:    "add a message",
		}
		if warns(p) {
			r.severity = report.SeverityWarning
		}
		c.add(r)
	}
}

// warns reports whether a binding of a policy has the action Warn.
func warns(p *policySubject) bool {
	return slices.ContainsFunc(p.bindings, func(b *bindingSubject) bool {
		return slices.Contains(b.Spec.ValidationActions, v1.Warn)
	})
}
