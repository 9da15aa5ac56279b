package main

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/preadmit/preadmit/scanner/suite"
)

// junitReport is the JUnit XML that CI systems read (Jenkins' junit-10.xsd): a
// testsuite for each suite, a testcase for each request.
type junitReport struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Classname string        `xml:"classname,attr"`
	Skipped   *junitMessage `xml:"skipped,omitempty"`
	Failure   *junitMessage `xml:"failure,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

func writeTestJUnit(w io.Writer, r *testReport) error {
	report := junitReport{Name: "preadmit test"}
	for _, s := range r.Suites {
		js := newJUnitSuite(s)
		report.Suites = append(report.Suites, js)
		report.Tests += js.Tests
		report.Failures += js.Failures
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(report); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// newJUnitSuite: a case for the policies that the server refuses comes first when
// they are not as expected.
func newJUnitSuite(s *suite.Result) junitSuite {
	js := junitSuite{Name: s.Dir}
	if f := s.Failure(""); f != nil {
		js.add(junitCase{Name: "policyErrors", Failure: junitFailure(s, f)})
	}
	for i := range s.Verdicts {
		c := junitCase{Name: s.Verdicts[i].Name}
		switch f := s.Failure(c.Name); {
		case f != nil:
			c.Failure = junitFailure(s, f)
		case !s.Compared(c.Name):
			c.Skipped = &junitMessage{Message: verdictLine(s, &s.Verdicts[i])}
		}
		js.add(c)
	}
	return js
}

func (js *junitSuite) add(c junitCase) {
	c.Classname = js.Name
	js.Tests++
	if c.Failure != nil {
		js.Failures++
	}
	if c.Skipped != nil {
		js.Skipped++
	}
	js.Cases = append(js.Cases, c)
}

func junitFailure(s *suite.Result, f *suite.Failure) *junitMessage {
	lines := append([]string{failureTitle(s, f)}, differenceLines(f.Differences)...)
	lines = append(lines, explanationLines(s, f)...)
	return &junitMessage{
		Message: strings.Join(differenceLines(f.Differences), "; "),
		Type:    "verdict",
		Text:    strings.Join(lines, "\n"),
	}
}
