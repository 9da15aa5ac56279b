package lint

import (
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/report"
)

// finish sorts the report, removes repetitions and counts.
func (l *linter) finish() {
	r := l.report
	r.Sort()
	r.Findings = slices.CompactFunc(r.Findings, sameRemark)
	report.SetLintFingerprints(r.Findings)
	for i := range r.Findings {
		r.Summary.Findings[r.Findings[i].Severity]++
		l.survey.HashLine(&r.Findings[i].Location)
	}
	r.Indeterminate = slices.CompactFunc(r.Indeterminate, func(a, b report.Indeterminate) bool { return reflect.DeepEqual(a, b) })
	if r.Summary.Policies+r.Summary.Bindings == 0 && len(r.Findings) == 0 {
		r.Diagnostics = append(r.Diagnostics, report.Diagnostic{
			Severity: "warning", Message: "nothing to lint: no admission policy and no binding was found",
		})
	}
	if r.Indeterminate == nil {
		r.Indeterminate = []report.Indeterminate{}
	}
	if r.Diagnostics == nil {
		r.Diagnostics = []report.Diagnostic{}
	}
}

// sameRemark reports whether two findings are the same remark about the same place, as for overlays
// that share a file.
func sameRemark(a, b report.LintFinding) bool {
	return a.Rule == b.Rule && a.Message == b.Message && a.Location.Path == b.Location.Path &&
		a.Location.StartLine == b.Location.StartLine && a.Location.StartColumn == b.Location.StartColumn &&
		a.Location.Field == b.Location.Field && a.Target == b.Target
}
