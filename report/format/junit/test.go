package junit

import (
	"io"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// WriteTest writes a report of preadmit test: a testsuite for each suite, a testcase for
// each request.
func WriteTest(w io.Writer, r *report.SuiteReport) error {
	suites := make([]Suite, len(r.Suites))
	for i, s := range r.Suites {
		suites[i] = newTestSuite(s)
	}
	return WriteSuites(w, "preadmit test", suites)
}

// newTestSuite returns the testsuite of a suite. Its first testcase is for the refusals of
// policies if they are not as expected.
func newTestSuite(s *report.SuiteResult) Suite {
	js := Suite{Name: escape.Text(s.Dir)}
	if f := s.Failure(""); f != nil {
		js.Add(Case{Name: "policyErrors", Failure: testFailure(s, f)})
	}
	for i := range s.Verdicts {
		name := s.Verdicts[i].Name
		c := Case{Name: escape.Text(name)}
		switch f := s.Failure(name); {
		case f != nil:
			c.Failure = testFailure(s, f)
		case !s.Compared[name]:
			c.Skipped = &Message{Message: outline.VerdictLine(s, &s.Verdicts[i])}
		}
		js.Add(c)
	}
	return js
}

func testFailure(s *report.SuiteResult, f *report.SuiteFailure) *Message {
	lines := append([]string{outline.FailureTitle(s, f)}, outline.DifferenceLines(f.Differences)...)
	lines = append(lines, outline.ExplanationLines(s, f)...)
	return &Message{
		Message: strings.Join(outline.DifferenceLines(f.Differences), "; "),
		Type:    "verdict",
		Text:    strings.Join(lines, "\n"),
	}
}
