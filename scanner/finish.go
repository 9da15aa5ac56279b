package scanner

import (
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/report"
)

// finish puts the report in order and counts.
func (s *scan) finish() {
	for _, f := range s.findings {
		s.report.Findings = append(s.report.Findings, f.Finding)
	}
	for _, u := range s.unjudged {
		s.report.Indeterminate = append(s.report.Indeterminate, u.Indeterminate)
	}
	s.locator.Conceal(s.report)
	s.report.Sort()
	s.report.Findings = compactEqual(s.report.Findings)
	s.report.Indeterminate = compactEqual(s.report.Indeterminate)
	s.report.Diagnostics = compactEqual(s.report.Diagnostics)
	report.SetFingerprints(s.report.Findings)
	for i := range s.report.Findings {
		s.locator.HashLine(&s.report.Findings[i].Location)
	}
	s.report.Summary.Policies = len(s.policies)
	s.report.Summary.Findings = countFindings(s.report.Findings)
}

// compactEqual drops repeats: what several targets say alike is said once.
func compactEqual[T any](list []T) []T {
	return slices.CompactFunc(list, func(a, b T) bool { return reflect.DeepEqual(a, b) })
}

func countFindings(findings []report.Finding) map[report.Action]map[report.Status]int {
	counts := map[report.Action]map[report.Status]int{}
	for _, f := range findings {
		if counts[f.Action] == nil {
			counts[f.Action] = map[report.Status]int{}
		}
		counts[f.Action][f.Status]++
	}
	return counts
}
