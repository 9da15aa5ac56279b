package policy

import (
	"maps"
	"regexp"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// statusField matches the name of the field in an expression.
var statusField = regexp.MustCompile(`\bstatus\b`)

// readsStatus reports whether an expression that affects the verdict may read the status of an
// object. Comparisons of whole objects do not count.
func readsStatus(spec *v1.ValidatingAdmissionPolicySpec) bool {
	for _, c := range spec.MatchConditions {
		if statusField.MatchString(c.Expression) {
			return true
		}
	}
	for _, v := range spec.Variables {
		if statusField.MatchString(v.Expression) {
			return true
		}
	}
	for _, v := range spec.Validations {
		if statusField.MatchString(v.Expression) {
			return true
		}
	}
	return false
}

// openStatus returns the status of the request's objects if it is unknown and the policy may read it.
func (e *evaluation) openStatus() *render.Unknown {
	if !e.compiled.readsStatus {
		return nil
	}
	return e.request.OpenStatus()
}

// withStatus returns the known content of an object with an unknown status. known is nil if all of content is
// known.
func withStatus(known any, content map[string]any, status *render.Unknown) any {
	if status == nil || content == nil {
		return known
	}
	if known == nil {
		known = content
	}
	object, ok := known.(map[string]any)
	if !ok { // the kind is known by name only: all fields that are not written are unknown already
		return known
	}
	object = maps.Clone(object)
	object["status"] = unknown.Value{Field: status, Maybe: true}
	return object
}
