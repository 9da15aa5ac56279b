package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/preadmit/preadmit/report/format"
)

// OutputFlags are the flags for where and how a report is written.
type OutputFlags struct {
	Format         Choice
	Outputs        Words
	Color          Choice
	Verbose, Quiet bool
	// Private is the format of files that only the user may read, because the report in it has
	// values of Secrets; empty if no format has.
	Private string
	// Given reports whether a flag is on the command line.
	Given func(name string) bool
}

// NewOutputFlags returns the flags with their defaults, for a report that has formats.
func NewOutputFlags(formats []string) OutputFlags {
	return OutputFlags{
		Format: Choice{Value: "text", Known: formats}, Outputs: Words{Kind: "[FORMAT=]FILE"},
		Color: Choice{Value: "auto", Known: []string{"auto", "always", "never"}},
	}
}

// Output is one place that a report is written to.
type Output struct {
	Format string
	path   string
	// implied is set for stdout if no flag selects it or its format.
	implied bool
}

// toStdout is the path of stdout.
const toStdout = "-"

// Outputs are all places that a report is written to, stdout first.
type Outputs []Output

// ParseOutputs parses --format and --output. The report is written to stdout in the format of
// --format unless an output names stdout.
func (f *OutputFlags) ParseOutputs() (Outputs, error) {
	all := Outputs{{Format: f.Format.Value, path: toStdout}}
	given := f.Given("format")
	for _, value := range f.Outputs.Values {
		o, err := parseOutput(value, f.Format.Known)
		switch {
		case err != nil:
			return nil, err
		case o.path != toStdout:
			all = append(all, o)
			continue
		case given:
			return nil, Usagef("--output %s: stdout has a format already", value)
		}
		given, all[0] = true, o
	}
	all[0].implied = !given
	return all, all.check()
}

// parseOutput parses [FORMAT=]FILE. Without FORMAT, the extension of the file determines it.
func parseOutput(value string, formats []string) (Output, error) {
	format, path, named := strings.Cut(value, "=")
	switch {
	case named && slices.Contains(formats, format):
	case named && !strings.ContainsAny(format, "./\\"):
		return Output{}, Usagef("--output %s: unknown format %q, want one of %s", value, format, strings.Join(formats, ", "))
	default:
		path = value
		format = formatOf(filepath.Ext(path))
	}
	switch {
	case path == "":
		return Output{}, Usagef("--output %s: no file", value)
	case format == "":
		return Output{}, Usagef("--output %s: the name does not tell the format, write FORMAT=%s with one of %s",
			value, value, strings.Join(formats, ", "))
	}
	return Output{Format: format, path: path}, nil
}

func formatOf(extension string) string {
	switch strings.ToLower(extension) {
	case ".json":
		return "json"
	case ".sarif":
		return "sarif"
	case ".md", ".markdown":
		return "markdown"
	case ".html", ".htm":
		return "html"
	case ".xml":
		return "junit"
	case ".txt":
		return "text"
	}
	return ""
}

// Have reports whether any output has a format.
func (all Outputs) Have(format string) bool {
	return slices.ContainsFunc(all, func(o Output) bool { return o.Format == format })
}

// Need returns an error if a flag for one format is given and no output has this format.
func (f *OutputFlags) Need(all Outputs, flag, format string) error {
	if !f.Given(flag) || all.Have(format) {
		return nil
	}
	return Usagef("--%s is for %[2]s, in which nothing is written: give --format %[2]s, or --output %[2]s=FILE", flag, format)
}

// check returns an error, before any work, if a file cannot be written.
func (all Outputs) check() error {
	seen := map[string]bool{}
	for _, o := range all[1:] {
		clean := filepath.Clean(o.path)
		if seen[clean] {
			return Usagef("--output %s: given twice", o.path)
		}
		seen[clean] = true
		if info, err := os.Stat(o.path); err == nil && info.IsDir() {
			return Usagef("--output %s: is a directory", o.path)
		}
		if info, err := os.Stat(filepath.Dir(o.path)); err != nil || !info.IsDir() {
			return Usagef("--output %s: there is no directory %s", o.path, filepath.Dir(o.path))
		}
	}
	return nil
}

// ReportWriter writes one report in a format.
type ReportWriter func(w io.Writer, format string, opts format.Options) error

// Write writes the report to all outputs, files first: they must be written even if stdout is
// closed.
func (all Outputs) Write(p Process, f *OutputFlags, write ReportWriter) error {
	opts := format.Options{Verbose: f.Verbose, Quiet: f.Quiet}
	for _, o := range all[1:] {
		opts.Color = f.Color.Value == "always"
		file := WriteFile
		if o.Format == f.Private {
			file = WritePrivateFile
		}
		if err := file(o.path, func(w io.Writer) error { return write(w, o.Format, opts) }); err != nil {
			return fmt.Errorf("write %s: %w", o.path, err)
		}
	}
	if all.insteadOf(p.Stdout) {
		for _, o := range all[1:] {
			_, _ = fmt.Fprintf(p.Stderr, "preadmit: wrote %s\n", o.path)
		}
		return nil
	}
	opts.Color = UseColor(p, f.Color.Value)
	opts.Width = Columns(p.Stdout)
	return write(p.Stdout, all[0].Format, opts)
}

// insteadOf reports whether nothing is written to stdout: no flag selects it, a file gets a
// report in a format other than text, and stdout is a terminal and not the log of a run.
func (all Outputs) insteadOf(stdout io.Writer) bool {
	file, ok := stdout.(*os.File)
	other := slices.ContainsFunc(all[1:], func(o Output) bool { return o.Format != "text" })
	return all[0].implied && other && ok && term.IsTerminal(int(file.Fd()))
}
