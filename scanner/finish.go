package scanner

import (
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/lines"
)

// finish fills in and sorts the report and its counts.
func (s *scan) finish(out outcome) {
	for i := range out.findings {
		f := &out.findings[i]
		s.ledger.Unlocated(f.Root, f.Unlocated)
		s.report.Findings = append(s.report.Findings, f.Finding)
	}
	for i := range out.remarks {
		s.remark(&out.remarks[i])
	}
	s.order()
	settleCharts(s.report)
	report.SetFingerprints(s.report.Findings)
	for i := range s.report.Findings {
		s.locator.HashLine(&s.report.Findings[i].Location)
	}
	s.report.Requests = out.captured
	summary := &s.report.Summary
	summary.Requests, summary.Evaluations = out.requests, out.evaluations
	summary.Policies, summary.Bindings, summary.NoPolicies = len(out.rules.policies), len(out.rules.bindings), out.noPolicies
	summary.Coverage, summary.Webhooks = coverage(out.objects, s.report.Indeterminate), out.webhooks
	summary.Findings = report.CountFindings(s.report.Findings)
	summary.Kubernetes = s.servers(summary.Requests)
}

// remark adds a located remark to the report as a diagnostic.
func (s *scan) remark(f *lines.Finding) {
	s.ledger.Unlocated(f.Root, f.Unlocated)
	s.ledger.Note(report.Diagnostic{
		Severity: "warning", Root: f.Root, Location: &f.Location,
		Message: f.Key.String() + ": " + f.Message,
	})
}

// order copies the ledger's entries into the report and sorts the report.
func (s *scan) order() {
	s.report.Indeterminate = s.ledger.Indeterminate()
	s.report.Diagnostics = append(s.report.Diagnostics, s.ledger.Notes...)
	s.report.Summary.Roots = s.ledger.Counts
	s.locator.Conceal(s.report)
	s.report.Sort()
	s.report.Findings = compactEqual(s.report.Findings)
	s.report.Indeterminate = compactEqual(s.report.Indeterminate)
	s.report.Diagnostics = compactEqual(s.report.Diagnostics)
}

// compactEqual drops repeated entries, which several targets can produce.
func compactEqual[T any](list []T) []T {
	return slices.CompactFunc(list, func(a, b T) bool { return reflect.DeepEqual(a, b) })
}
