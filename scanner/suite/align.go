package suite

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/scanner/policy"
)

// Align gives our verdict as the recorded one words it, where both are answers of
// the same server: policies, bindings and selected params have no order there,
// so which denial it names, which failure the audit annotation keeps, and in what
// order it warns and joins values is chance. So is the order of errors found by
// walking a map, as of labels and of a custom resource. They agree when the result equals
// the recorded verdict.
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

// fits tells whether a refusal is the recorded one, as far as that is stated.
func (r refusal) fits(recorded *Verdict) bool {
	return (!recorded.stated.has("code") || recorded.Code == r.code) &&
		(!recorded.stated.has("reason") || recorded.Reason == r.reason) &&
		(!recorded.stated.has("message") || recorded.Message == r.message)
}

// sameErrors tells whether two refusals of an object list the same errors.
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

func sameAnnotation(key, ours, recorded string, failures []string) bool {
	if key == policy.FailureAnnotation {
		return slices.Contains(failures, recorded)
	}
	return sameElements(strings.Split(ours, ", "), strings.Split(recorded, ", "))
}

func sameElements(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
