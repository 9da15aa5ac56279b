package outline

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// VerdictLine returns an answer as one line.
func VerdictLine(s *report.SuiteResult, v *report.SuiteVerdict) string {
	answer := "allowed"
	switch {
	case len(v.Indeterminate) > 0:
		answer = "indeterminate: " + strings.Join(v.Indeterminate, "; ")
	case !v.Allowed:
		answer = fmt.Sprintf("denied, %d %s: %s", v.Code, v.Reason, v.Message)
	case len(v.Warnings) > 0:
		answer = "allowed, " + Count(len(v.Warnings), "warning")
	}
	if !s.Compared[v.Name] {
		answer += " (not compared)"
	}
	return escape.Line(v.Name + ": " + answer)
}

// FailureTitle returns the name of the failed request, with its lines in the suite's files.
func FailureTitle(s *report.SuiteResult, f *report.SuiteFailure) string {
	if f.Request == "" {
		return "policies and bindings that the server refuses (" + fileOf(s, "expected.yaml") + ")"
	}
	return fmt.Sprintf("%s (%s:%d, %s:%d)", escape.Line(f.Request),
		fileOf(s, "expected.yaml"), f.Line, fileOf(s, "requests.yaml"), f.RequestLine)
}

func fileOf(s *report.SuiteResult, name string) string { return escape.Line(path.Join(s.Dir, name)) }

// DifferenceLines returns the lines that differ, with - for expected and + for actual.
func DifferenceLines(differences []report.Difference) []string {
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

// ExplanationLines returns the expressions that led to the answer, with the values they read.
func ExplanationLines(s *report.SuiteResult, f *report.SuiteFailure) []string {
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

func valueLines(e *report.Explanation) []string {
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

// noDecision explains why no policy decided the request.
func noDecision(s *report.SuiteResult, f *report.SuiteFailure) string {
	for i := range s.Verdicts {
		if v := &s.Verdicts[i]; v.Name == f.Request && !v.Allowed {
			return "no policy decided this: " + escape.Line(v.Message)
		}
	}
	if f.Evaluations == 0 {
		return "no validation was evaluated: no policy matches the request, or none is bound"
	}
	return "no policy objects: " + Count(f.Evaluations, "validation") + " passed"
}

func decisionName(e *report.Explanation) string {
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
