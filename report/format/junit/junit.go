package junit

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/excerpt"
	"github.com/preadmit/preadmit/report/format/outline"
)

// Options has the parameters of report.Report.Verdict: a finding that fails the run is a
// failure.
type Options struct {
	FailOn   string
	Existing bool
}

// Write writes a suite for each root, with a case for each finding and each indeterminate.
// A finding that fails the run is a failure, a root that does not render an error, and an
// indeterminate is skipped; other findings pass, with their text as output. The first suite
// is about the scan itself.
func Write(w *bufio.Writer, r *report.Report, opts Options) error {
	scan := Suite{Name: "preadmit scan"}
	scan.Add(scanCase(r, opts))
	suites := []*Suite{&scan}
	byRoot := map[string]*Suite{}
	of := func(root string) *Suite {
		name := "root " + escape.Text(cmp.Or(root, "(none)"))
		if byRoot[name] == nil {
			byRoot[name] = &Suite{Name: name}
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
	all := make([]Suite, len(suites))
	for i, s := range suites {
		all[i] = *s
	}
	return WriteSuites(w, "preadmit scan", all)
}

// scanCase returns the case for the scan as a whole, an error if it is not complete.
func scanCase(r *report.Report, opts Options) Case {
	lines := []string{outline.CountsOf(r, opts.Existing).Headline() + " in " + outline.Scope(&r.Summary)}
	if hooks := outline.Webhooks(r); hooks != "" {
		lines = append(lines, hooks)
	}
	none := outline.NoPolicies(r)
	if none != "" {
		lines = append(lines, none)
	}
	for _, d := range outline.Remarks(r.Diagnostics) {
		said := escape.Lines(d.Message)
		said[0] = escape.Text(d.Severity) + ": " + said[0]
		line := strings.ReplaceAll(escape.GuardAll(said), "\n", "\n  ")
		if d.Location != nil {
			line = outline.Place(d.Location) + ": " + line
		}
		lines = append(lines, line)
	}
	c := Case{Name: "scan", Output: textOf(lines)}
	switch {
	case r.Verdict(opts.FailOn, opts.Existing) == report.VerdictIncomplete && none != "":
		c.Error = &Message{Message: none, Type: "incomplete"}
	case r.Verdict(opts.FailOn, opts.Existing) == report.VerdictIncomplete:
		c.Error = &Message{Message: "a root that should have been judged does not render", Type: "incomplete"}
	case none != "":
		c.Skipped = &Message{Message: none, Type: "no policies"}
	}
	return c
}

func findingCase(f *report.Finding, opts Options) Case {
	rule := outline.Join(" ", escape.Text(cmp.Or(f.Policy, string(f.Cause))), validationOf(f))
	c := Case{
		Name:      outline.Join(": ", outline.Join(" ", escape.Text(f.Operation), outline.ObjectName(f.Object)), rule),
		Classname: escape.Text(cmp.Or(f.Policy, "preadmit/"+string(f.Cause))),
	}
	lines := escape.Lines(f.Message)
	message := &Message{Message: lines[0], Type: string(outline.ClassOf(f))}
	lines = append(lines, "at "+outline.Place(&f.Location))
	lines = append(lines, excerpt.Lines(&f.Location)...)
	lines = append(lines, (&outline.Entry{Finding: f}).Details(false, false)...)
	message.Text = escape.GuardAll(lines)
	switch {
	case !f.Fails(opts.FailOn, opts.Existing):
		c.Output = textOf(append([]string{string(outline.ClassOf(f)) + ", " + escape.Text(string(f.Status)) + ":"}, lines...))
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

func unjudgedCase(n *report.Indeterminate, opts Options) Case {
	lines := escape.Lines(n.Why)
	message := &Message{Message: "not judged: " + lines[0], Type: outline.NotJudged}
	if n.Location != nil {
		lines = append(lines, "at "+outline.Place(n.Location))
	}
	message.Text = escape.GuardAll(lines)
	c := Case{
		Name:      outline.Join(": ", cmp.Or(outline.ObjectName(n.Object), escape.Text(n.What)), escape.Text(n.Policy)),
		Classname: "preadmit/indeterminate",
	}
	if n.Fails(opts.FailOn, opts.Existing) {
		c.Failure = message
	} else {
		c.Skipped = message
	}
	return c
}
