package suite

import (
	"context"
	"fmt"
)

// Result has the answers of a run, and how they differ from the expected ones.
type Result struct {
	// Dir is the suite's directory.
	Dir string `json:"dir"`
	// Recorded is recordedFrom of expected.yaml, see Expected.
	Recorded string `json:"recorded,omitempty"`
	// PolicyErrors are the policies and bindings the server would refuse.
	PolicyErrors []PolicyError `json:"policyErrors"`
	// Verdicts are the answers to the requests that ran, in the order of
	// requests.yaml.
	Verdicts []Verdict `json:"verdicts"`
	Failures []Failure `json:"failures"`

	compared map[string]bool // by name
	lines    map[string]int  // of requests, by name
}

// Failure is a request whose answer is not as expected.
type Failure struct {
	// Request is its name; empty for differences in policyErrors.
	Request string `json:"request,omitempty"`
	// Line of the entry in expected.yaml, 0 when there is none.
	Line int `json:"line,omitempty"`
	// RequestLine is that of the entry in requests.yaml.
	RequestLine int          `json:"requestLine,omitempty"`
	Differences []Difference `json:"differences"`
	// Evaluations is the number of validations evaluated for the request.
	Evaluations int `json:"evaluations"`
	// Explanations are the decisions that led to the answer.
	Explanations []Explanation `json:"explanations,omitempty"`
}

// Compared reports whether expected.yaml has an entry for a request.
func (r *Result) Compared(request string) bool { return r.compared[request] }

// Failure returns the failure of a request, nil if there is none.
func (r *Result) Failure(request string) *Failure {
	for i := range r.Failures {
		if r.Failures[i].Request == request {
			return &r.Failures[i]
		}
	}
	return nil
}

// Test runs the requests whose name is chosen, and compares the answers with those that
// the suite expects. Without an expected.yaml nothing is compared.
func (s *Suite) Test(ctx context.Context, chosen func(name string) bool) (*Result, error) {
	got, err := s.RunSome(ctx, chosen)
	if err != nil {
		return nil, fmt.Errorf("run suite %s: %w", s.Dir, err)
	}
	r := &Result{
		Dir: s.Dir, Failures: []Failure{},
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
		r.Failures = append(r.Failures, Failure{Differences: differences})
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

func (r *Result) failure(ctx context.Context, want *Verdict, got Verdict, differences []Difference) (Failure, error) {
	f := Failure{Request: got.Name, Line: want.line, RequestLine: r.lines[got.Name], Differences: differences}
	if got.review == nil {
		return f, nil
	}
	f.Evaluations = got.review.Evaluations
	var err error
	f.Explanations, err = explain(ctx, got.review)
	return f, err
}
