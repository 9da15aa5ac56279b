package lint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/scanner"
)

// finish puts the report in order, drops what was said before and counts.
func (l *linter) finish() {
	r := l.report
	slices.SortStableFunc(r.Findings, compareFindings)
	r.Findings = slices.CompactFunc(r.Findings, sameRemark)
	fingerprint(r.Findings)
	for i := range r.Findings {
		r.Summary.Findings[r.Findings[i].Severity]++
		l.survey.HashLine(&r.Findings[i].Location)
	}
	r.Indeterminate = slices.CompactFunc(r.Indeterminate, func(a, b scanner.Indeterminate) bool { return reflect.DeepEqual(a, b) })
	if r.Summary.Policies+r.Summary.Bindings == 0 && len(r.Findings) == 0 {
		r.Diagnostics = append(r.Diagnostics, scanner.Diagnostic{
			Severity: "warning", Message: "nothing to lint: no ValidatingAdmissionPolicy and no binding was found",
		})
	}
	if r.Indeterminate == nil {
		r.Indeterminate = []scanner.Indeterminate{}
	}
	if r.Diagnostics == nil {
		r.Diagnostics = []scanner.Diagnostic{}
	}
}

func compareFindings(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.Location.Path, b.Location.Path),
		cmp.Compare(a.Location.StartLine, b.Location.StartLine),
		cmp.Compare(a.Location.StartColumn, b.Location.StartColumn),
		cmp.Compare(severityRank(a.Severity), severityRank(b.Severity)),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Location.Field, b.Location.Field),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Target, b.Target),
		cmp.Compare(a.Root, b.Root),
	)
}

func severityRank(s Severity) int { return slices.Index(Severities(), s) }

// sameRemark: overlays that share a file say the same of it.
func sameRemark(a, b Finding) bool {
	return a.Rule == b.Rule && a.Message == b.Message && a.Location.Path == b.Location.Path &&
		a.Location.StartLine == b.Location.StartLine && a.Location.StartColumn == b.Location.StartColumn &&
		a.Location.Field == b.Location.Field && a.Target == b.Target
}

// fingerprint tells findings apart by all but lines; those that agree in the rest
// are numbered.
func fingerprint(findings []Finding) {
	seen := map[string]int{}
	for i := range findings {
		f := &findings[i]
		parts := []any{"lint/v1", f.Rule, f.Object, f.Target, f.Root, f.Location.Path, f.Location.Field, f.Message}
		// What is in it marshals: strings and an object of strings.
		data, _ := json.Marshal(parts)
		if n := seen[string(data)]; n > 0 {
			seen[string(data)]++
			data, _ = json.Marshal(append(parts, n))
		} else {
			seen[string(data)] = 1
		}
		sum := sha256.Sum256(data)
		f.Fingerprint = hex.EncodeToString(sum[:16])
	}
}
