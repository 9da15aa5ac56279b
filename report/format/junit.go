package format

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// JUnitSuite is a testsuite of the JUnit XML that CI systems read, as Jenkins'
// junit-10.xsd describes it.
type JUnitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []JUnitCase `xml:"testcase"`
}

// JUnitCase is a testcase. Without a message it passed.
type JUnitCase struct {
	Name      string        `xml:"name,attr"`
	Classname string        `xml:"classname,attr"`
	Skipped   *JUnitMessage `xml:"skipped,omitempty"`
	Error     *JUnitMessage `xml:"error,omitempty"`
	Failure   *JUnitMessage `xml:"failure,omitempty"`
	Output    *JUnitText    `xml:"system-out,omitempty"`
}

// JUnitMessage says why a case did not pass.
type JUnitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",cdata"`
}

// JUnitText is what a case has to say besides.
type JUnitText struct {
	Text string `xml:",cdata"`
}

// Add adds a case, of the suite's class unless it has one, and counts it.
func (s *JUnitSuite) Add(c JUnitCase) {
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

// WriteJUnit writes suites as a JUnit document with that name. Texts must be escaped.
func WriteJUnit(w io.Writer, name string, suites []JUnitSuite) error {
	document := struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []JUnitSuite `xml:"testsuite"`
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
	_, err := io.WriteString(w, xml.Header+noLegacyCommand(body.String())+"\n")
	return err
}

// writeJUnit writes a suite for each root: a case for each finding and for what could
// not be judged. What fails the run is a failure, a root that does not render an
// error, what could not be judged skipped; other findings pass and say so. The first
// suite is about the scan itself.
func writeJUnit(w *bufio.Writer, r *report.Report, opts Options) error {
	scan := JUnitSuite{Name: "preadmit scan"}
	scan.Add(scanCase(r, opts))
	suites := []*JUnitSuite{&scan}
	byRoot := map[string]*JUnitSuite{}
	of := func(root string) *JUnitSuite {
		name := "root " + escape(cmp.Or(root, "(none)"))
		if byRoot[name] == nil {
			byRoot[name] = &JUnitSuite{Name: name}
			suites = append(suites, byRoot[name])
		}
		return byRoot[name]
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Status != report.StatusResolved {
			of(f.Root).Add(findingCase(f, opts))
		}
	}
	for i := range r.Indeterminate {
		n := &r.Indeterminate[i]
		of(n.Root).Add(unjudgedCase(n, opts))
	}
	all := make([]JUnitSuite, len(suites))
	for i, s := range suites {
		all[i] = *s
	}
	return WriteJUnit(w, "preadmit scan", all)
}

// scanCase is the scan as a whole: an error when it is not complete.
func scanCase(r *report.Report, opts Options) JUnitCase {
	t := tallyOf(r.Findings)
	text := fmt.Sprintf("%s in %s, %s", outcomeText(t, r, r.Change.Base != nil), rootsText(r.Summary.Roots), count(r.Summary.Requests, "request"))
	lines := []string{text}
	for _, d := range remarksOf(r.Diagnostics) {
		line := escape(d.Severity) + ": " + strings.Join(escapeLines(d.Message), "\n  ")
		if d.Location != nil {
			line = place(d.Location) + ": " + line
		}
		lines = append(lines, line)
	}
	c := JUnitCase{Name: "scan", Output: junitText(lines)}
	if r.Verdict(opts.FailOn, opts.Existing) == report.VerdictIncomplete {
		c.Error = &JUnitMessage{Message: "a root that should have been judged does not render", Type: "incomplete"}
	}
	return c
}

func findingCase(f *report.Finding, opts Options) JUnitCase {
	rule := joinNonEmpty(" ", escape(cmp.Or(f.Policy, string(f.Cause))), validationOf(f))
	c := JUnitCase{
		Name:      joinNonEmpty(": ", joinNonEmpty(" ", escape(f.Operation), objectName(f.Object)), rule),
		Classname: escape(cmp.Or(f.Policy, "preadmit/"+string(f.Cause))),
	}
	lines := escapeLines(f.Message)
	message := &JUnitMessage{Message: lines[0], Type: escape(string(f.Action))}
	lines = append(lines, "at "+place(&f.Location))
	lines = append(lines, excerptLines(&f.Location)...)
	lines = append(lines, (&printer{}).details(&entry{Finding: f}, false)...)
	message.Text = guardLines(lines)
	switch {
	case !f.Fails(opts.FailOn, opts.Existing):
		c.Output = junitText(append([]string{escape(string(f.Action)) + ", " + escape(string(f.Status)) + ":"}, lines...))
	case f.Cause == report.CauseRender:
		c.Error = message
	default:
		c.Failure = message
	}
	return c
}

func validationOf(f *report.Finding) string {
	if f.Validation == nil {
		return ""
	}
	return fmt.Sprintf("validations[%d]", *f.Validation)
}

func unjudgedCase(n *report.Indeterminate, opts Options) JUnitCase {
	lines := escapeLines(n.Why)
	message := &JUnitMessage{Message: "not judged: " + lines[0], Type: "indeterminate"}
	if n.Location != nil {
		lines = append(lines, "at "+place(n.Location))
	}
	message.Text = guardLines(lines)
	c := JUnitCase{
		Name:      joinNonEmpty(": ", cmp.Or(objectName(n.Object), escape(n.What)), escape(n.Policy)),
		Classname: "preadmit/indeterminate",
	}
	if n.Fails(opts.FailOn, opts.Existing) {
		c.Failure = message
	} else {
		c.Skipped = message
	}
	return c
}

func junitText(lines []string) *JUnitText { return &JUnitText{Text: guardLines(lines)} }

// guardLines joins escaped lines.
func guardLines(lines []string) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = guardLine(l)
	}
	return strings.Join(out, "\n")
}
