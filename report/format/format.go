package format

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/codequality"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/html"
	"github.com/preadmit/preadmit/report/format/junit"
	"github.com/preadmit/preadmit/report/format/markdown"
	"github.com/preadmit/preadmit/report/format/mask"
	"github.com/preadmit/preadmit/report/format/outline"
	"github.com/preadmit/preadmit/report/format/sarif"
	"github.com/preadmit/preadmit/report/format/text"
	"github.com/preadmit/preadmit/report/format/workflow"
)

// Options configures how a report is written. Each format uses only some of them. The
// zero value is for a pipe: no colour, 80 columns.
type Options struct {
	// Color marks actions, places and excerpts with ANSI colours.
	Color bool
	// Width is the number of columns to wrap at. 0 means 80. It is limited to between 40
	// and 120: longer lines are hard to read.
	Width int
	// Verbose adds expressions, reasons, related locations, all places of a repeated
	// finding, and durations.
	Verbose bool
	// Quiet leaves only denials and the summary.
	Quiet bool
	// Limit is the maximum length of markdown in characters (Unicode code points); 0 is
	// no limit. Parts that do not fit are left out completely, the least severe first,
	// and counted.
	Limit int
	// Blob is the URL of the head's files, like https://github.com/o/r/blob/SHA/. If it is
	// set, places in markdown and html are links.
	Blob string
	// Files is the set of paths that the change touches, nil if not known. The format
	// github annotates them before others.
	Files map[string]bool
	// FailOn and Existing are those of report.Report.Verdict. In junit, a finding that
	// fails the run is a failure. Without Existing, gitlab has new findings only.
	FailOn   string
	Existing bool
	// By makes text show totals by these keys instead of the findings; see TotalsBy.
	By []string
}

// TotalsBy lists the keys for Options.By.
func TotalsBy() []string { return outline.TotalsBy() }

func (o Options) text() text.Options {
	return text.Options{Color: o.Color, Width: o.Width, Verbose: o.Verbose, Quiet: o.Quiet, Existing: o.Existing, By: o.By}
}

func (o Options) markdown() markdown.Options {
	return markdown.Options{Limit: o.Limit, Blob: o.Blob, Verbose: o.Verbose, Quiet: o.Quiet, Existing: o.Existing}
}

func (o Options) html() html.Options {
	return html.Options{Blob: o.Blob, Verbose: o.Verbose, Quiet: o.Quiet}
}

func (o Options) junit() junit.Options { return junit.Options{FailOn: o.FailOn, Existing: o.Existing} }

func (o Options) codequality() codequality.Options {
	return codequality.Options{Existing: o.Existing, Quiet: o.Quiet}
}

func (o Options) workflow() workflow.Options {
	return workflow.Options{Files: o.Files, Quiet: o.Quiet, Existing: o.Existing}
}

// format is one way to write a report.
type format[R any] struct {
	name  string
	write func(w *bufio.Writer, r R, o Options) error
}

// scanFormats returns the table of formats of a scan, in the order they are listed to users.
func scanFormats() []format[*report.Report] {
	type R = *report.Report
	return []format[R]{
		{"text", func(w *bufio.Writer, r R, o Options) error { return text.Write(w, r, o.text()) }},
		{"json", func(w *bufio.Writer, r R, _ Options) error { return escape.EncodeJSON(w, r.Normalized()) }},
		{"sarif", func(w *bufio.Writer, r R, _ Options) error { return sarif.Write(w, r) }},
		{"markdown", func(w *bufio.Writer, r R, o Options) error { return markdown.Write(w, r, o.markdown()) }},
		{"html", func(w *bufio.Writer, r R, o Options) error { return html.Write(w, r, o.html()) }},
		{"junit", func(w *bufio.Writer, r R, o Options) error { return junit.Write(w, r, o.junit()) }},
		{"github", func(w *bufio.Writer, r R, o Options) error { return workflow.Write(w, r, o.workflow()) }},
		{"gitlab", func(w *bufio.Writer, r R, o Options) error { return codequality.Write(w, r, o.codequality()) }},
	}
}

// lintFormats returns the table of formats of lint.
func lintFormats() []format[*report.LintReport] {
	type R = *report.LintReport
	return []format[R]{
		{"text", func(w *bufio.Writer, r R, o Options) error { return text.WriteLint(w, r, o.text()) }},
		{"json", func(w *bufio.Writer, r R, _ Options) error { return escape.EncodeJSON(w, r) }},
		{"sarif", func(w *bufio.Writer, r R, _ Options) error { return sarif.WriteLint(w, r) }},
	}
}

// diffFormats returns the table of formats of preadmit diff.
func diffFormats() []format[*report.Comparison] {
	type R = *report.Comparison
	return []format[R]{
		{"text", func(w *bufio.Writer, c R, o Options) error { return text.WriteDiff(w, c, o.text()) }},
		{"json", func(w *bufio.Writer, c R, _ Options) error { return escape.EncodeJSON(w, c.Normalized()) }},
		{"markdown", func(w *bufio.Writer, c R, o Options) error { return markdown.WriteDiff(w, c, o.markdown()) }},
	}
}

// testFormats returns the table of formats of preadmit test.
func testFormats() []format[*report.SuiteReport] {
	type R = *report.SuiteReport
	return []format[R]{
		{"text", func(w *bufio.Writer, r R, o Options) error { return text.WriteTest(w, r, o.text()) }},
		{"json", func(w *bufio.Writer, r R, _ Options) error { return escape.EncodeJSON(w, r) }},
		{"junit", func(w *bufio.Writer, r R, _ Options) error { return junit.WriteTest(w, r) }},
	}
}

// explainFormats returns the table of formats of preadmit explain.
func explainFormats() []format[*report.ExplainReport] {
	type R = *report.ExplainReport
	return []format[R]{
		{"text", func(w *bufio.Writer, r R, o Options) error { return text.WriteExplain(w, r, o.text()) }},
		{"json", func(w *bufio.Writer, r R, _ Options) error { return escape.EncodeJSON(w, r) }},
	}
}

// Formats lists the formats of a scan, in a fixed order.
func Formats() []string { return names(scanFormats()) }

// LintFormats lists the formats of lint.
func LintFormats() []string { return names(lintFormats()) }

// DiffFormats lists the formats of preadmit diff.
func DiffFormats() []string { return names(diffFormats()) }

// TestFormats lists the formats of preadmit test.
func TestFormats() []string { return names(testFormats()) }

// ExplainFormats lists the formats of preadmit explain.
func ExplainFormats() []string { return names(explainFormats()) }

// SavedFormats lists the formats of a saved report.
func SavedFormats(s *report.Saved) []string {
	if s.Lint != nil {
		return LintFormats()
	}
	return Formats()
}

// Write writes the report of a scan in one of Formats. The values of Secrets are masked
// in every format.
func Write(w io.Writer, name string, r *report.Report, opts Options) error {
	return writeAs(w, scanFormats(), name, mask.Report(r), opts)
}

// WriteLint writes the report of preadmit lint in one of LintFormats.
func WriteLint(w io.Writer, name string, r *report.LintReport, opts Options) error {
	return writeAs(w, lintFormats(), name, mask.Lint(r), opts)
}

// WriteDiff writes the report of preadmit diff in one of DiffFormats.
func WriteDiff(w io.Writer, name string, c *report.Comparison, opts Options) error {
	return writeAs(w, diffFormats(), name, c, opts)
}

// WriteTest writes the report of preadmit test in one of TestFormats.
func WriteTest(w io.Writer, name string, r *report.SuiteReport, opts Options) error {
	return writeAs(w, testFormats(), name, r, opts)
}

// WriteExplain writes the report of preadmit explain in one of ExplainFormats.
func WriteExplain(w io.Writer, name string, r *report.ExplainReport, opts Options) error {
	return writeAs(w, explainFormats(), name, r, opts)
}

// WriteSaved writes a saved report in one of its SavedFormats.
func WriteSaved(w io.Writer, name string, s *report.Saved, opts Options) error {
	if s.Lint != nil {
		return WriteLint(w, name, s.Lint, opts)
	}
	return Write(w, name, s.Scan, opts)
}

// writeAs writes with the named format of a table. An unknown name is an error that
// lists the known ones.
func writeAs[R any](w io.Writer, formats []format[R], name string, r R, opts Options) error {
	for _, f := range formats {
		if f.name != name {
			continue
		}
		b := bufio.NewWriter(w)
		if err := f.write(b, r, opts); err != nil {
			return fmt.Errorf("write the report as %s: %w", name, err)
		}
		if err := b.Flush(); err != nil {
			return fmt.Errorf("write the report as %s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("unknown format %q, want one of %s", name, strings.Join(names(formats), ", "))
}

func names[R any](formats []format[R]) []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}
