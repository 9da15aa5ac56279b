package policy

import (
	"fmt"
	"sync/atomic"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/preadmit/preadmit/scanner/policy/secrets"
)

// redact sets the texts of decisions about Secrets that may be shown.
func (e *evaluation) redact(decisions []Decision) {
	if len(decisions) == 0 {
		return
	}
	s := secrets.New(e.version.Object, e.version.OldObject, e.params)
	if s == nil {
		return
	}
	sealed := *e
	version := *e.version
	version.Object, version.OldObject = s.Apply(version.Object), s.Apply(version.OldObject)
	sealed.version, sealed.params = &version, s.Apply(e.params)
	for i := range decisions {
		d := &decisions[i]
		if d.Validation < 0 {
			d.Redacted = secrets.Conceal(d.Message, e.version.Object, e.version.OldObject, e.params)
			continue
		}
		if d.Redacted = d.Message; d.Message != e.fixed(d) {
			d.Redacted = s.Redact(d.Message, sealed.messageFor(d))
		}
	}
}

// fixed returns the message of a failed validation without its messageExpression.
func (e *evaluation) fixed(d *Decision) string {
	if d.Cause != CauseValidation {
		return ""
	}
	return failureMessage(&e.policy.Spec.Validations[d.Validation], nil)
}

// messageFor returns the message of a failed validation for the content of e, even if the validation
// does not fail there.
func (e *evaluation) messageFor(d *Decision) string {
	a := e.activation(d.Cause == CauseError, e.resource, e.namespace().object)
	a.meter = new(atomic.Int64)
	i := d.Validation
	if d.Cause != CauseValidation {
		results, _, err := a.evaluateAll(e.compiled.validations[i:i+1], celconfig.RuntimeCELCostBudget)
		switch {
		case err != nil:
			return err.Error()
		case results[0].err != nil:
			return results[0].err.Error()
		}
		return fmt.Sprintf("expression '%v' resulted in error: ", d.Expression)
	}
	var message *result
	if i < len(e.compiled.messages) {
		if results, _, err := a.evaluateAll(e.compiled.messages[i:i+1], celconfig.RuntimeCELCostBudget); err == nil {
			message = &results[0]
		}
	}
	return failureMessage(&e.policy.Spec.Validations[i], message)
}
