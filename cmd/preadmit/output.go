package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report/format"
)

// output is one place that a report is written to.
type output struct {
	format string
	path   string // "-" is stdout
}

type outputs []output

// parseOutputs parses --format and --output. The report is written to stdout in the format of
// --format unless an output names stdout.
func parseOutputs(f *scanFlags) (outputs, error) {
	all := outputs{{f.format.value, "-"}}
	toStdout := f.given("format")
	for _, value := range f.outputs.values {
		o, err := parseOutput(value, f.format.known)
		switch {
		case err != nil:
			return nil, err
		case o.path != "-":
			all = append(all, o)
			continue
		case toStdout:
			return nil, usagef("--output %s: stdout has a format already", value)
		}
		toStdout, all[0] = true, o
	}
	return all, all.check()
}

// parseOutput splits [FORMAT=]FILE. Without FORMAT the extension of the file decides.
func parseOutput(value string, formats []string) (output, error) {
	format, path, named := strings.Cut(value, "=")
	switch {
	case named && slices.Contains(formats, format):
	case named && !strings.ContainsAny(format, "./\\"):
		return output{}, usagef("--output %s: unknown format %q, want one of %s", value, format, strings.Join(formats, ", "))
	default:
		path = value
		format = formatOf(filepath.Ext(path))
	}
	switch {
	case path == "":
		return output{}, usagef("--output %s: no file", value)
	case format == "":
		return output{}, usagef("--output %s: the name does not tell the format, write FORMAT=%s with one of %s",
			value, value, strings.Join(formats, ", "))
	}
	return output{format, path}, nil
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

// have reports whether some output has a format.
func (all outputs) have(format string) bool {
	return slices.ContainsFunc(all, func(o output) bool { return o.format == format })
}

// check returns an error, before any work, if a file cannot be written.
func (all outputs) check() error {
	seen := map[string]bool{}
	for _, o := range all[1:] {
		clean := filepath.Clean(o.path)
		if seen[clean] {
			return usagef("--output %s: given twice", o.path)
		}
		seen[clean] = true
		if info, err := os.Stat(o.path); err == nil && info.IsDir() {
			return usagef("--output %s: is a directory", o.path)
		}
		if info, err := os.Stat(filepath.Dir(o.path)); err != nil || !info.IsDir() {
			return usagef("--output %s: there is no directory %s", o.path, filepath.Dir(o.path))
		}
	}
	return nil
}

// reportWriter writes one report in a format.
type reportWriter func(w io.Writer, format string, opts format.Options) error

// write writes the report to all outputs, files first: they must be written even if nobody
// reads stdout any more.
func (all outputs) write(p Process, f *scanFlags, write reportWriter) error {
	opts := format.Options{Verbose: f.verbose, Quiet: f.quiet}
	for _, o := range all[1:] {
		opts.Color = f.color.value == "always"
		if err := writeFile(o.path, func(w io.Writer) error { return write(w, o.format, opts) }); err != nil {
			return fmt.Errorf("write %s: %w", o.path, err)
		}
	}
	opts.Color = useColor(p, f.color.value)
	opts.Width = columns(p.Stdout)
	return write(p.Stdout, all[0].format, opts)
}

// writeFile replaces a file as a whole or not at all. A file that is not regular, such as a
// pipe or /dev/null, is written to.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return closing(file, write)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name())
		}
	}()
	if err := temporary.Chmod(0o644); err != nil {
		_ = temporary.Close()
		return err
	}
	if err := closing(temporary, write); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

func closing(file *os.File, write func(io.Writer) error) error {
	if err := write(file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
