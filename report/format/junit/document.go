package junit

import (
	"cmp"
	"encoding/xml"
	"io"
	"strings"

	"github.com/preadmit/preadmit/report/format/escape"
)

// Suite is a testsuite.
type Suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Cases    []Case `xml:"testcase"`
}

// Case is a testcase. Without a message it passed.
type Case struct {
	Name      string   `xml:"name,attr"`
	Classname string   `xml:"classname,attr"`
	Skipped   *Message `xml:"skipped,omitempty"`
	Error     *Message `xml:"error,omitempty"`
	Failure   *Message `xml:"failure,omitempty"`
	Output    *Text    `xml:"system-out,omitempty"`
}

// Message is the reason why a case did not pass.
type Message struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

// Text is further output of a case.
type Text struct {
	Text string `xml:",cdata"`
}

// Add adds and counts a case. Its class is the suite's name unless it has one.
func (s *Suite) Add(c Case) {
	c.Classname = cmp.Or(c.Classname, s.Name)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// WriteSuites writes suites as a JUnit document with that name. Texts must be escaped.
func WriteSuites(w io.Writer, name string, suites []Suite) error {
	document := struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []Suite  `xml:"testsuite"`
	}{Name: name, Suites: suites}
	for _, s := range suites {
		document.Tests += s.Tests
		document.Failures += s.Failures
		document.Errors += s.Errors
	}
	var body strings.Builder
	encoder := xml.NewEncoder(&body)
	encoder.Indent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return err
	}
	_, err := io.WriteString(w, xml.Header+escape.GuardLegacy(body.String())+"\n")
	return err
}

func textOf(lines []string) *Text { return &Text{Text: escape.GuardAll(lines)} }
