package text

import (
	"fmt"
	"io"
	"slices"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// WriteTest writes a report of preadmit test as text. With Verbose it writes all requests,
// not only those that fail or are not compared.
func WriteTest(w io.Writer, r *report.SuiteReport, o Options) error {
	for _, s := range r.Suites {
		printf(w, "%s\n", suiteLine(s))
		for i := range s.Verdicts {
			if v := &s.Verdicts[i]; o.Verbose || !s.Compared[v.Name] {
				printf(w, "  %s\n", outline.VerdictLine(s, v))
			}
		}
		if len(s.Failures) == 0 && !hasExpectations(s) {
			for _, e := range s.PolicyErrors {
				printf(w, "  refused: %s\n", escape.Line(e.Message))
			}
		}
		for i := range s.Failures {
			writeFailure(w, s, &s.Failures[i])
		}
		if len(s.Failures) > 0 {
			printf(w, "\n")
		}
	}
	_, err := fmt.Fprintln(w, summaryLine(&r.Summary))
	return err
}

func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// hasExpectations reports whether anything of a suite is compared.
func hasExpectations(s *report.SuiteResult) bool {
	return slices.ContainsFunc(s.Verdicts, func(v report.SuiteVerdict) bool { return s.Compared[v.Name] })
}

func suiteLine(s *report.SuiteResult) string {
	compared := 0
	for i := range s.Verdicts {
		if s.Compared[s.Verdicts[i].Name] {
			compared++
		}
	}
	dir := escape.Line(s.Dir)
	switch failed := len(s.Failures); {
	case failed > 0:
		return fmt.Sprintf("FAIL  %s: %s", dir, failedLine(s, failed, compared))
	case compared == 0:
		return fmt.Sprintf("ran   %s: %s, nothing to compare with", dir, outline.Count(len(s.Verdicts), "request"))
	}
	return fmt.Sprintf("ok    %s: %s", dir, outline.Count(compared, "request"))
}

func failedLine(s *report.SuiteResult, failed, compared int) string {
	if s.Failure("") == nil {
		return fmt.Sprintf("%d of %d requests not as expected", failed, compared)
	}
	return fmt.Sprintf("%d of %d requests and the policies not as expected", failed-1, compared)
}

func summaryLine(s *report.SuiteSummary) string {
	line := fmt.Sprintf("%s, %s: %d as expected, %d not",
		outline.Count(s.Suites, "suite"), outline.Count(s.Requests, "request"),
		s.Requests-s.NotCompared-s.Failed, s.Failed)
	if s.FailedPolicies > 0 {
		line += fmt.Sprintf(", the policies of %s not", outline.Count(s.FailedPolicies, "suite"))
	}
	if s.NotCompared > 0 {
		line += fmt.Sprintf(", %d not compared", s.NotCompared)
	}
	if s.Indeterminate > 0 {
		line += fmt.Sprintf(", %d indeterminate", s.Indeterminate)
	}
	return line
}

// writeFailure writes the differences of an answer and the decisions that led to it.
func writeFailure(w io.Writer, s *report.SuiteResult, f *report.SuiteFailure) {
	printf(w, "\n  %s\n", outline.FailureTitle(s, f))
	for _, line := range outline.DifferenceLines(f.Differences) {
		printf(w, "    %s\n", line)
	}
	for _, line := range outline.ExplanationLines(s, f) {
		printf(w, "    %s\n", line)
	}
}
