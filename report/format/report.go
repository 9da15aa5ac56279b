// Package format writes a report.Report in the formats people and programs
// read, and reads the wire format back.
//
// Every format is a pure function of the report: no clock, no environment, no
// files. What a report quotes from a repository - names, messages, lines of
// files - is hostile until proven otherwise: it passes through escape.go before
// it reaches a terminal or a log, and mask.go hides what Secrets hold before any
// format sees the report, the wire format included.
package format

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// Options steer how a report is written. The zero value is for a pipe: no
// colour, 80 columns. Formats for programs do not look at them.
type Options struct {
	// Color marks actions, places and excerpts with ANSI colours.
	Color bool
	// Width is the number of columns to wrap at. 0 means 80; it is kept between 40
	// and 120, lines longer than that are hard to read.
	Width int
	// Verbose also tells of expressions, reasons, related locations, every place a
	// finding repeats at, and durations.
	Verbose bool
	// Quiet leaves only denials and the summary.
	Quiet bool
	// Limit is the most characters (Unicode code points) that markdown may have; 0 is
	// no limit. What does not fit is left out as a whole, the least severe first, and
	// counted.
	Limit int
	// Blob is the URL of the head's files, like https://github.com/o/r/blob/SHA/: when
	// it is set, places in markdown are links.
	Blob string
	// Files are the paths that the change touches: github annotates them before others.
	// Nil means that they are not known.
	Files map[string]bool
	// FailOn and Existing are those of report.Report.Verdict: what fails the run is a
	// failure in junit.
	FailOn   string
	Existing bool
}

// format is one way to write a report.
type format[R any] struct {
	name  string
	write func(w *bufio.Writer, r R, opts Options) error
}

// formats is the one table of formats, in the order they are listed to users.
func formats() []format[*report.Report] {
	return []format[*report.Report]{
		{"text", writeText},
		{"json", writeJSON},
		{"sarif", writeSARIF},
		{"markdown", writeMarkdown},
		{"html", writeHTML},
		{"junit", writeJUnit},
		{"github", writeGitHub},
	}
}

// Formats lists the names Write knows, in a fixed order.
func Formats() []string { return names(formats()) }

func names[R any](formats []format[R]) []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Write writes a report in the named format. The values of Secrets are masked in
// every format. An unknown format is an error that lists the known ones.
func Write(w io.Writer, format string, r *report.Report, opts Options) error {
	return writeAs(w, formats(), format, maskSecrets(r), opts)
}

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

// SavedFormats lists the formats of a report that was read back.
func SavedFormats(s *report.Saved) []string {
	if s.Lint != nil {
		return LintFormats()
	}
	return Formats()
}

// WriteSaved writes a report that was read back in one of its SavedFormats.
func WriteSaved(w io.Writer, name string, s *report.Saved, opts Options) error {
	if s.Lint != nil {
		return WriteLint(w, name, s.Lint, opts)
	}
	return Write(w, name, s.Scan, opts)
}
