package policy

import (
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preadmit/preadmit/scanner/admission"
)

// Cause is the cause of a decision.
type Cause string

const (
	// CauseValidation means that the expression of a validation is false.
	CauseValidation Cause = "validation"
	// CauseError means that an expression could not be evaluated and the failure policy is Fail.
	CauseError Cause = "error"
	// CauseConfiguration means that the policy or binding cannot be applied: a missing param, an
	// unknown paramKind or version.
	CauseConfiguration Cause = "configuration"
)

// Outcome is the result of evaluating a set of policies for a request.
type Outcome struct {
	// Decisions are the failures, in the order of policy, binding, param and validation.
	Decisions []Decision
	// Refusal fails the request as a whole, before policies: its namespace does not exist. It is only
	// set if all Namespaces are known.
	Refusal error
	// AuditAnnotations are the values of spec.auditAnnotations, by policy name and key.
	AuditAnnotations map[string]string
	// Indeterminate are the policies that could not be judged.
	Indeterminate []Indeterminate
	// Evaluations is the number of validations evaluated.
	Evaluations int
}

// Decision is one failure.
type Decision struct {
	Policy *Policy
	// Binding is nil when the policy as a whole is misconfigured.
	Binding *Binding
	// Param is nil without one.
	Param *admission.Object
	// Validation is the index in spec.validations, -1 when no validation failed.
	Validation int
	Cause      Cause
	// Expression is the CEL expression that failed, if one did.
	Expression string
	// Message is the server's text after "denied request: ".
	Message string
	// Redacted is Message with Hidden in place of values of a Secret. It is empty when the decision
	// involves no Secret.
	Redacted string
	Reason   metav1.StatusReason
	// Actions are the binding's validationActions; for configuration and audit annotation errors Deny
	// alone, because the server ignores validationActions for these.
	Actions []v1.ValidationAction
	// Input is the input of Expression; nil for other decisions.
	Input *Input
}

// Denies reports whether the decision denies the request.
func (d *Decision) Denies() bool { return slices.Contains(d.Actions, v1.Deny) }

// Same reports whether two decisions are the same for a reader: the same message of the same policy,
// although an edit of the policy may have moved the validation to another index.
func (d *Decision) Same(other *Decision) bool {
	return d.Policy.Name == other.Policy.Name && bindingName(d.Binding) == bindingName(other.Binding) &&
		d.Cause == other.Cause && d.Message == other.Message &&
		(d.Validation == other.Validation || d.Expression == other.Expression && d.Expression != "") &&
		sameParam(d.Param, other.Param) && slices.Equal(d.Actions, other.Actions)
}

func bindingName(b *Binding) string {
	if b == nil {
		return ""
	}
	return b.Name
}

func sameParam(a, b *admission.Object) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Namespace() == b.Namespace() && a.Name() == b.Name()
}

// ContainsDecision reports whether one of decisions is the same as d.
func ContainsDecision(decisions []Decision, d Decision) bool {
	return slices.ContainsFunc(decisions, func(other Decision) bool { return other.Same(&d) })
}

// Indeterminate is a policy that could not be judged for a request.
type Indeterminate struct {
	Policy *Policy
	// Binding is nil when the policy's own matching is unknown.
	Binding *Binding
	// Why is the reason.
	Why string
}
