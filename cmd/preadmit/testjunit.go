package main

import (
	"io"
	"strings"

	"github.com/preadmit/preadmit/report/format/junit"
	"github.com/preadmit/preadmit/scanner/suite"
)

// writeTestJUnit writes JUnit XML: a testsuite for each suite, a testcase for each
// request.
func writeTestJUnit(w io.Writer, r *testReport) error {
	suites := make([]junit.Suite, len(r.Suites))
	for i, s := range r.Suites {
		suites[i] = newJUnitSuite(s)
	}
	return junit.WriteSuites(w, "preadmit test", suites)
}

// newJUnitSuite returns the testsuite of a suite. If the refusals of policies are not as
// expected, they are its first testcase.
func newJUnitSuite(s *suite.Result) junit.Suite {
	js := junit.Suite{Name: s.Dir}
	if f := s.Failure(""); f != nil {
		js.Add(junit.Case{Name: "policyErrors", Failure: junitFailure(s, f)})
	}
	for i := range s.Verdicts {
		c := junit.Case{Name: s.Verdicts[i].Name}
		switch f := s.Failure(c.Name); {
		case f != nil:
			c.Failure = junitFailure(s, f)
		case !s.Compared(c.Name):
			c.Skipped = &junit.Message{Message: verdictLine(s, &s.Verdicts[i])}
		}
		js.Add(c)
	}
	return js
}

func junitFailure(s *suite.Result, f *suite.Failure) *junit.Message {
	lines := append([]string{failureTitle(s, f)}, differenceLines(f.Differences)...)
	lines = append(lines, explanationLines(s, f)...)
	return &junit.Message{
		Message: strings.Join(differenceLines(f.Differences), "; "),
		Type:    "verdict",
		Text:    strings.Join(lines, "\n"),
	}
}
