package suite

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/scanner/policy"
)

// Align returns ours with the random choices of the recorded verdict. A server has no order of
// policies, bindings and selected params, so these are random: which denial it returns, which
// failure is in the audit annotation, and the order of warnings and of joined values. The order of
// errors found by iterating over a map, such as labels or fields of a custom resource, is random
// too. The verdicts agree if the result equals the recorded one.
func Align(recorded, ours Verdict) Verdict {
	for _, d := range ours.denials {
		if d.fits(&recorded) {
			ours.Code, ours.Reason, ours.Message = d.code, d.reason, d.message
			break
		}
	}
	if sameErrors(ours.Message, recorded.Message) {
		ours.Message = recorded.Message
	}
	if sameElements(ours.Warnings, recorded.Warnings) {
		ours.Warnings = recorded.Warnings
	}
	annotations := make(map[string]string, len(ours.AuditAnnotations))
	for key, value := range ours.AuditAnnotations {
		annotations[key] = value
		if sameAnnotation(key, value, recorded.AuditAnnotations[key], ours.auditFailures) {
			annotations[key] = recorded.AuditAnnotations[key]
		}
	}
	ours.AuditAnnotations = annotations
	return ours
}

// fits reports whether a refusal equals the recorded verdict in the fields that it states.
func (r refusal) fits(recorded *Verdict) bool {
	return (!recorded.stated.has("code") || recorded.Code == r.code) &&
		(!recorded.stated.has("reason") || recorded.Reason == r.reason) &&
		(!recorded.stated.has("message") || recorded.Message == r.message)
}

// sameErrors reports whether two refusals of an object list the same errors in any order.
func sameErrors(ours, recorded string) bool {
	for _, refused := range []string{" is invalid: [", " is forbidden: ["} {
		what, errs, ok := strings.Cut(ours, refused)
		recordedWhat, recordedErrs, recordedOK := strings.Cut(recorded, refused)
		if ok && recordedOK {
			return what == recordedWhat && sameElements(strings.Split(strings.TrimSuffix(errs, "]"), ", "), strings.Split(strings.TrimSuffix(recordedErrs, "]"), ", "))
		}
	}
	return false
}

// sameAnnotation reports whether a server may set either value for an annotation.
func sameAnnotation(key, ours, recorded string, failures []string) bool {
	if key == policy.FailureAnnotation {
		return slices.Contains(failures, recorded)
	}
	return sameElements(strings.Split(ours, ", "), strings.Split(recorded, ", "))
}

// sameElements reports whether two lists have the same elements in any order.
func sameElements(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
