package main

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner/suite"
)

// writeTestText writes the report as text; with verbose every request, not only those that
// fail or are not compared.
func writeTestText(w io.Writer, r *testReport, verbose bool) {
	for _, s := range r.Suites {
		printf(w, "%s\n", suiteLine(s))
		for i := range s.Verdicts {
			if v := &s.Verdicts[i]; verbose || !s.Compared(v.Name) {
				printf(w, "  %s\n", verdictLine(s, v))
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
	printf(w, "%s\n", summaryLine(&r.Summary))
}

func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// hasExpectations reports whether anything of a suite is compared.
func hasExpectations(s *suite.Result) bool {
	return slices.ContainsFunc(s.Verdicts, func(v suite.Verdict) bool { return s.Compared(v.Name) })
}

func suiteLine(s *suite.Result) string {
	compared := 0
	for i := range s.Verdicts {
		if s.Compared(s.Verdicts[i].Name) {
			compared++
		}
	}
	dir := escape.Line(s.Dir)
	switch failed := len(s.Failures); {
	case failed > 0:
		return fmt.Sprintf("FAIL  %s: %s", dir, failedLine(s, failed, compared))
	case compared == 0:
		return fmt.Sprintf("ran   %s: %s, nothing to compare with", dir, count(len(s.Verdicts), "request", "requests"))
	}
	return fmt.Sprintf("ok    %s: %s", dir, count(compared, "request", "requests"))
}

func failedLine(s *suite.Result, failed, compared int) string {
	if s.Failure("") == nil {
		return fmt.Sprintf("%d of %d requests not as expected", failed, compared)
	}
	return fmt.Sprintf("%d of %d requests and the policies not as expected", failed-1, compared)
}

func summaryLine(s *testSummary) string {
	line := fmt.Sprintf("%s, %s: %d as expected, %d not",
		count(s.Suites, "suite", "suites"), count(s.Requests, "request", "requests"),
		s.Requests-s.NotCompared-s.Failed, s.Failed)
	if s.FailedPolicies > 0 {
		line += fmt.Sprintf(", the policies of %s not", count(s.FailedPolicies, "suite", "suites"))
	}
	if s.NotCompared > 0 {
		line += fmt.Sprintf(", %d not compared", s.NotCompared)
	}
	if s.Indeterminate > 0 {
		line += fmt.Sprintf(", %d indeterminate", s.Indeterminate)
	}
	return line
}

// verdictLine returns an answer as one line.
func verdictLine(s *suite.Result, v *suite.Verdict) string {
	answer := "allowed"
	switch {
	case len(v.Indeterminate) > 0:
		answer = "indeterminate: " + strings.Join(v.Indeterminate, "; ")
	case !v.Allowed:
		answer = fmt.Sprintf("denied, %d %s: %s", v.Code, v.Reason, v.Message)
	case len(v.Warnings) > 0:
		answer = "allowed, " + count(len(v.Warnings), "warning", "warnings")
	}
	if !s.Compared(v.Name) {
		answer += " (not compared)"
	}
	return escape.Line(v.Name + ": " + answer)
}

// writeFailure writes the differences of an answer and the decisions that led to it.
func writeFailure(w io.Writer, s *suite.Result, f *suite.Failure) {
	printf(w, "\n  %s\n", failureTitle(s, f))
	for _, line := range differenceLines(f.Differences) {
		printf(w, "    %s\n", line)
	}
	for _, line := range explanationLines(s, f) {
		printf(w, "    %s\n", line)
	}
}

// failureTitle returns the name of what failed, with the lines where it is written.
func failureTitle(s *suite.Result, f *suite.Failure) string {
	if f.Request == "" {
		return "policies and bindings that the server refuses (" + fileOf(s, suite.ExpectedFile) + ")"
	}
	return fmt.Sprintf("%s (%s:%d, %s:%d)", escape.Line(f.Request),
		fileOf(s, suite.ExpectedFile), f.Line, fileOf(s, suite.RequestsFile), f.RequestLine)
}

func fileOf(s *suite.Result, name string) string { return escape.Line(path.Join(s.Dir, name)) }

// differenceLines returns the lines that differ, with - for expected and + for actual.
func differenceLines(differences []suite.Difference) []string {
	var lines []string
	for _, d := range differences {
		expected, actual := fieldLines(d.Field, d.Expected), fieldLines(d.Field, d.Actual)
		for _, line := range expected {
			if !slices.Contains(actual, line) {
				lines = append(lines, "- "+line)
			}
		}
		for _, line := range actual {
			if !slices.Contains(expected, line) {
				lines = append(lines, "+ "+line)
			}
		}
	}
	return lines
}

// fieldLines returns the lines of a field, one for each element.
func fieldLines(field string, value any) []string {
	var lines []string
	switch v := value.(type) {
	case nil:
		return []string{field + ": (none)"}
	case []string:
		for i, item := range v {
			lines = append(lines, fmt.Sprintf("%s[%d]: %s", field, i, escape.Line(item)))
		}
	case map[string]string:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			lines = append(lines, fmt.Sprintf("%s['%s']: %s", field, escape.Line(key), escape.Line(v[key])))
		}
	default:
		lines = []string{field + ": " + escape.Line(fmt.Sprint(v))}
	}
	return lines
}

// explanationLines returns the expressions that led to the answer, with the values they read.
func explanationLines(s *suite.Result, f *suite.Failure) []string {
	if f.Request == "" {
		return nil
	}
	if len(f.Explanations) == 0 {
		return []string{noDecision(s, f)}
	}
	var lines []string
	for i := range f.Explanations {
		e := &f.Explanations[i]
		lines = append(lines, fmt.Sprintf("because of %s: %s", decisionName(e), escape.Line(e.Message)))
		if e.Expression == "" {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(e.Expression), "\n") {
			lines = append(lines, "  "+escape.Line(line))
		}
		lines = append(lines, valueLines(e)...)
	}
	return lines
}

func valueLines(e *suite.Explanation) []string {
	var lines []string
	for _, v := range e.Values {
		value := "= " + escape.Line(v.Value)
		if v.Missing {
			value = "is not set"
		}
		lines = append(lines, fmt.Sprintf("  where %s %s", escape.Line(v.Path), value))
	}
	if e.MoreValues {
		lines = append(lines, "  and more")
	}
	return lines
}

// noDecision says why no policy is named.
func noDecision(s *suite.Result, f *suite.Failure) string {
	for i := range s.Verdicts {
		if v := &s.Verdicts[i]; v.Name == f.Request && !v.Allowed {
			return "no policy decided this: " + escape.Line(v.Message)
		}
	}
	if f.Evaluations == 0 {
		return "no validation was evaluated: no policy matches the request, or none is bound"
	}
	return "no policy objects: " + count(f.Evaluations, "validation", "validations") + " passed"
}

func decisionName(e *suite.Explanation) string {
	parts := []string{"policy " + e.Policy}
	if e.Binding != "" {
		parts = append(parts, "binding "+e.Binding)
	}
	if e.Param != "" {
		parts = append(parts, "param "+e.Param)
	}
	if e.Validation >= 0 {
		parts = append(parts, fmt.Sprintf("validations[%d]", e.Validation))
	}
	return escape.Line(strings.Join(parts, ", ") + " (" + strings.Join(e.Actions, ", ") + ")")
}
