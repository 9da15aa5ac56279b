package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/report"
)

// maxBytes is the maximum size of a configuration file, since anyone can open a pull request.
const maxBytes = 1 << 20

// Load reads the configuration at the top of a repository: that of base, because a pull request
// must not disable its own checks, or that of head if base is nil. Without a file it returns the
// zero Config. If head's file differs from that of base, the diagnostics report this and the
// mistakes in head's file.
//
// For an invalid file the error is a *strictyaml.Error, or several joined.
func Load(base, head fs.FS) (Config, []report.Diagnostic, error) {
	if base == nil {
		config, err := read(head)
		return config, nil, err
	}
	config, err := read(base)
	if err != nil {
		return Config{}, nil, err
	}
	changes, err := changes(base, head)
	return config, changes, err
}

func read(tree fs.FS) (Config, error) {
	data, err := readFile(tree)
	if err != nil || data == nil {
		return Config{}, err
	}
	config, err := Parse(FileName, data)
	if err != nil {
		return Config{}, err
	}
	return *config, nil
}

// readFile returns the bytes of a tree's configuration, nil if there is none.
func readFile(tree fs.FS) ([]byte, error) {
	info, err := fs.Stat(tree, FileName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, checkName(tree)
	case err != nil:
		return nil, fileError("cannot be read: %v", err)
	case !info.Mode().IsRegular():
		return nil, fileError("is not a file")
	case info.Size() > maxBytes:
		return nil, fileError("is larger than %d bytes", maxBytes)
	}
	data, err := fs.ReadFile(tree, FileName)
	if err != nil {
		return nil, fileError("cannot be read: %v", err)
	}
	return append([]byte{}, data...), nil // not nil, even if empty
}

// checkName returns an error for a configuration with another extension, which would be ignored.
func checkName(tree fs.FS) error {
	const other = ".preadmit.yml"
	if _, err := fs.Stat(tree, other); err != nil {
		return nil
	}
	return &strictyaml.Error{Path: other, Line: 1, Column: 1, Message: "is not read: the name of the configuration is " + FileName}
}

func fileError(format string, args ...any) *strictyaml.Error {
	return &strictyaml.Error{Path: FileName, Line: 1, Column: 1, Message: fmt.Sprintf(format, args...)}
}

// changes returns diagnostics about a configuration that differs between base and head.
func changes(base, head fs.FS) ([]report.Diagnostic, error) {
	before, err := readFile(base)
	if err != nil {
		return nil, err
	}
	after, err := readFile(head)
	switch {
	case err != nil:
		return mistakes(err), nil
	case bytes.Equal(before, after) && (before == nil) == (after == nil):
		return nil, nil
	case after == nil:
		return []report.Diagnostic{change("deleted", "base")}, nil
	}
	verb := "changed"
	if before == nil {
		verb = "added"
	}
	diagnostics := []report.Diagnostic{change(verb, "head")}
	if _, err := Parse(FileName, after); err != nil {
		diagnostics = append(diagnostics, mistakes(err)...)
	}
	return diagnostics, nil
}

func change(verb, tree string) report.Diagnostic {
	return report.Diagnostic{
		Severity: "warning",
		Message:  "the configuration is " + verb + " by this change; it takes effect after the merge, this scan uses the base's",
		Location: &report.Location{Path: FileName, StartLine: 1, StartColumn: 1, Tree: tree},
	}
}

// mistakes returns the errors of head's configuration as diagnostics.
func mistakes(err error) []report.Diagnostic {
	var all []report.Diagnostic
	for _, e := range strictyaml.Errors(err) {
		message := e.Message
		if e.Key != "" {
			message = e.Key + ": " + message
		}
		all = append(all, report.Diagnostic{
			Severity: "error", Message: "after the merge every scan will refuse the configuration: " + message,
			Location: &report.Location{Path: e.Path, StartLine: e.Line, StartColumn: e.Column, Tree: "head"},
		})
	}
	return all
}
