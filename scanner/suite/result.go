package suite

import (
	"context"
	"fmt"

	"github.com/preadmit/preadmit/report"
)

// Result has the verdicts of a run and their differences from the expected ones.
type Result struct {
	// Dir is the suite's directory.
	Dir string
	// Recorded is the value of recordedFrom in expected.yaml, see Expected.
	Recorded string
	// PolicyErrors are the policies and bindings that the server would refuse.
	PolicyErrors []PolicyError
	// Verdicts are the verdicts on the requests that ran, in the order of requests.yaml.
	Verdicts []Verdict
	Failures []report.SuiteFailure

	compared map[string]bool // by name
	lines    map[string]int  // lines of requests, by name
}

// Report converts the result for a report. Values of Secrets are not masked, since they are the
// suite's own.
func (r *Result) Report() *report.SuiteResult {
	out := &report.SuiteResult{
		Dir: r.Dir, Recorded: r.Recorded, Failures: r.Failures, Compared: r.compared,
		PolicyErrors: make([]report.PolicyError, len(r.PolicyErrors)), Verdicts: make([]report.SuiteVerdict, len(r.Verdicts)),
	}
	for i, e := range r.PolicyErrors {
		out.PolicyErrors[i] = report.PolicyError{Kind: e.Kind, Name: e.Name, Message: e.Message}
	}
	for i, v := range r.Verdicts {
		out.Verdicts[i] = report.SuiteVerdict{
			Name: v.Name, Allowed: v.Allowed, Code: v.Code, Reason: v.Reason, Message: v.Message,
			Warnings: v.Warnings, AuditAnnotations: v.AuditAnnotations, Indeterminate: v.Indeterminate, Object: v.Object,
		}
	}
	return out
}

// Test runs the requests for which chosen returns true, and compares the verdicts with the expected
// ones. Without an expected.yaml it compares nothing.
func (s *Suite) Test(ctx context.Context, chosen func(name string) bool) (*Result, error) {
	got, err := s.RunSome(ctx, chosen)
	if err != nil {
		return nil, fmt.Errorf("run suite %s: %w", s.Dir, err)
	}
	r := &Result{
		Dir: s.Dir, Failures: []report.SuiteFailure{},
		PolicyErrors: append([]PolicyError{}, got.PolicyErrors...), Verdicts: append([]Verdict{}, got.Verdicts...),
		compared: map[string]bool{}, lines: map[string]int{},
	}
	for i := range s.Requests {
		r.lines[s.Requests[i].Name] = s.Requests[i].line
	}
	if s.Expected != nil {
		r.Recorded = s.Expected.RecordedFrom
		return r, r.compare(ctx, s.Expected)
	}
	return r, nil
}

func (r *Result) compare(ctx context.Context, expected *Expected) error {
	if differences := diffPolicyErrors(expected.PolicyErrors, r.PolicyErrors); len(differences) > 0 {
		r.Failures = append(r.Failures, report.SuiteFailure{Differences: differences})
	}
	entries := map[string]*Verdict{}
	for i := range expected.Verdicts {
		entries[expected.Verdicts[i].Name] = &expected.Verdicts[i]
	}
	for _, got := range r.Verdicts {
		want := entries[got.Name]
		if want == nil {
			continue
		}
		r.compared[got.Name] = true
		if differences := diffVerdicts(want, got); len(differences) > 0 {
			f, err := r.failure(ctx, want, got, differences)
			if err != nil {
				return err
			}
			r.Failures = append(r.Failures, f)
		}
	}
	return nil
}

func (r *Result) failure(ctx context.Context, want *Verdict, got Verdict, differences []report.Difference) (report.SuiteFailure, error) {
	f := report.SuiteFailure{Request: got.Name, Line: want.line, RequestLine: r.lines[got.Name], Differences: differences}
	if got.review == nil {
		return f, nil
	}
	f.Evaluations = got.review.Evaluations
	var err error
	f.Explanations, err = explained(ctx, got.review)
	return f, err
}
