package main

import (
	"io"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/suite"
)

// writeTestJUnit writes JUnit XML: a testsuite for each suite, a testcase for each
// request.
func writeTestJUnit(w io.Writer, r *testReport) error {
	suites := make([]report.JUnitSuite, len(r.Suites))
	for i, s := range r.Suites {
		suites[i] = newJUnitSuite(s)
	}
	return report.WriteJUnit(w, "preadmit test", suites)
}

// newJUnitSuite: a case for the policies that the server refuses comes first when
// they are not as expected.
func newJUnitSuite(s *suite.Result) report.JUnitSuite {
	js := report.JUnitSuite{Name: s.Dir}
	if f := s.Failure(""); f != nil {
		js.Add(report.JUnitCase{Name: "policyErrors", Failure: junitFailure(s, f)})
	}
	for i := range s.Verdicts {
		c := report.JUnitCase{Name: s.Verdicts[i].Name}
		switch f := s.Failure(c.Name); {
		case f != nil:
			c.Failure = junitFailure(s, f)
		case !s.Compared(c.Name):
			c.Skipped = &report.JUnitMessage{Message: verdictLine(s, &s.Verdicts[i])}
		}
		js.Add(c)
	}
	return js
}

func junitFailure(s *suite.Result, f *suite.Failure) *report.JUnitMessage {
	lines := append([]string{failureTitle(s, f)}, differenceLines(f.Differences)...)
	lines = append(lines, explanationLines(s, f)...)
	return &report.JUnitMessage{
		Message: strings.Join(differenceLines(f.Differences), "; "),
		Type:    "verdict",
		Text:    strings.Join(lines, "\n"),
	}
}
