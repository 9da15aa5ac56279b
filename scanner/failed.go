package scanner

import (
	"slices"

	admissionregistration "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// failed holds the decisions against one version of an object, by policy and param. A finding is
// existing if the base's version failed the same validation of the same policy with the same param
// and an action at least as strong, whatever the binding and message.
type failed map[judgedBy][]policy.Decision

// judgedBy is a policy and its param; the zero Key means no param.
type judgedBy struct {
	policy string
	param  admission.Key
}

func judgedByOf(d policy.Decision, cluster *admission.Cluster) judgedBy {
	by := judgedBy{policy: d.Policy.Name}
	if d.Param != nil {
		by.param = cluster.Key(d.Param)
	}
	return by
}

// failedOf indexes decisions about objects of a cluster.
func failedOf(decisions []policy.Decision, cluster *admission.Cluster) failed {
	f := failed{}
	for _, d := range decisions {
		by := judgedByOf(d, cluster)
		f[by] = append(f[by], d)
	}
	return f
}

// existed reports whether f has a decision about the same validation as d with an action at least
// as strong.
func (f failed) existed(d policy.Decision, cluster *admission.Cluster) bool {
	return slices.ContainsFunc(f[judgedByOf(d, cluster)], func(was policy.Decision) bool {
		return sameValidation(was, d) && strength(was) >= strength(d)
	})
}

// stillFails reports whether the head's decisions f include one about the same validation as the
// base's decision was.
func (f failed) stillFails(was policy.Decision, cluster *admission.Cluster) bool {
	return slices.ContainsFunc(f[judgedByOf(was, cluster)], func(d policy.Decision) bool {
		return sameValidation(was, d)
	})
}

// strength orders decisions by their strongest action.
func strength(d policy.Decision) int {
	actions := actionsOf(d.Actions)
	if len(actions) == 0 {
		return 0
	}
	return len(report.Actions()) - slices.Index(report.Actions(), actions[0])
}

// sameValidation reports whether two decisions by the same policy, one of the base and one of the
// head, are about the same validation. An edit of the policy may have moved it to another index or
// changed its expression. Decisions about no validation are compared by cause and expression.
func sameValidation(was, d policy.Decision) bool {
	if was.Validation < 0 || d.Validation < 0 {
		return was.Validation == d.Validation && was.Cause == d.Cause && was.Expression == d.Expression
	}
	return was.Validation == counterpart(was.Policy, d.Policy, d.Validation)
}

// counterpart returns the index in the base's policy of a validation of the head's policy, or -1 if
// it is new. It looks for the same expression; if the expression was edited, for the same message,
// and then for the same index.
func counterpart(base, head *policy.Policy, validation int) int {
	v := head.Spec.Validations[validation]
	if expressionAt(base, validation) == v.Expression {
		return validation
	}
	if i := indexOf(base, v.Expression); i >= 0 {
		return i
	}
	if i := ofMessage(editedOf(base, head), v); i >= 0 && ofMessage(editedOf(head, base), v) == validation {
		return i
	}
	if was := expressionAt(base, validation); was != "" && indexOf(head, was) < 0 {
		return validation
	}
	return -1
}

// editedOf returns the validations of p, by index, whose expressions are not in the other version
// of the policy.
func editedOf(p, other *policy.Policy) map[int]admissionregistration.Validation {
	edited := map[int]admissionregistration.Validation{}
	for i, v := range p.Spec.Validations {
		if indexOf(other, v.Expression) < 0 {
			edited[i] = v
		}
	}
	return edited
}

// ofMessage returns the index of the only validation with the message of v, or -1 if there is none
// or more than one.
func ofMessage(validations map[int]admissionregistration.Validation, v admissionregistration.Validation) int {
	found := -1
	for i, other := range validations {
		if other.Message+other.MessageExpression == "" || other.Message != v.Message || other.MessageExpression != v.MessageExpression {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// expressionAt returns the expression of a validation, empty when there is none at the
// index.
func expressionAt(p *policy.Policy, validation int) string {
	if validation >= len(p.Spec.Validations) {
		return ""
	}
	return p.Spec.Validations[validation].Expression
}

// indexOf returns the index of the first validation with an expression, or -1.
func indexOf(p *policy.Policy, expression string) int {
	for i := range p.Spec.Validations {
		if p.Spec.Validations[i].Expression == expression {
			return i
		}
	}
	return -1
}
