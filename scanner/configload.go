package scanner

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/report"
)

// maxConfigBytes bounds a configuration file: anyone can open a pull request.
const maxConfigBytes = 1 << 20

// LoadConfig reads the configuration at the top of a repository: that of base,
// because a pull request must not disarm its own gate, or that of head when base
// is nil. No file is the zero Config. When there is a base and head's file
// differs, the diagnostics say so, and what is wrong with head's file.
//
// A file that cannot be understood is a *strictyaml.Error (several joined).
func LoadConfig(base, head fs.FS) (Config, []report.Diagnostic, error) {
	if base == nil {
		config, err := readConfig(head)
		return config, nil, err
	}
	config, err := readConfig(base)
	if err != nil {
		return Config{}, nil, err
	}
	changes, err := configChanges(base, head)
	return config, changes, err
}

func readConfig(tree fs.FS) (Config, error) {
	data, err := readConfigFile(tree)
	if err != nil || data == nil {
		return Config{}, err
	}
	config, err := ParseConfig(ConfigFile, data)
	if err != nil {
		return Config{}, err
	}
	return *config, nil
}

// readConfigFile gives the bytes of a tree's configuration, nil when it has none.
func readConfigFile(tree fs.FS) ([]byte, error) {
	info, err := fs.Stat(tree, ConfigFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, configFileError("cannot be read: %v", err)
	case !info.Mode().IsRegular():
		return nil, configFileError("is not a file")
	case info.Size() > maxConfigBytes:
		return nil, configFileError("is larger than %d bytes", maxConfigBytes)
	}
	data, err := fs.ReadFile(tree, ConfigFile)
	if err != nil {
		return nil, configFileError("cannot be read: %v", err)
	}
	return append([]byte{}, data...), nil // not nil, even when empty
}

func configFileError(format string, args ...any) *strictyaml.Error {
	return &strictyaml.Error{Path: ConfigFile, Line: 1, Column: 1, Message: fmt.Sprintf(format, args...)}
}

// configChanges tells of a configuration that head changes.
func configChanges(base, head fs.FS) ([]report.Diagnostic, error) {
	before, err := readConfigFile(base)
	if err != nil {
		return nil, err
	}
	after, err := readConfigFile(head)
	switch {
	case err != nil:
		return configMistakes(err), nil
	case bytes.Equal(before, after) && (before == nil) == (after == nil):
		return nil, nil
	case after == nil:
		return []report.Diagnostic{configChange("deleted", "base")}, nil
	}
	verb := "changed"
	if before == nil {
		verb = "added"
	}
	diagnostics := []report.Diagnostic{configChange(verb, "head")}
	if _, err := ParseConfig(ConfigFile, after); err != nil {
		diagnostics = append(diagnostics, configMistakes(err)...)
	}
	return diagnostics, nil
}

func configChange(verb, tree string) report.Diagnostic {
	return report.Diagnostic{
		Severity: "warning",
		Message:  "the configuration is " + verb + " by this change; it takes effect after the merge, this scan uses the base's",
		Location: &report.Location{Path: ConfigFile, StartLine: 1, StartColumn: 1, Tree: tree},
	}
}

// configMistakes turns the errors of head's configuration into diagnostics.
func configMistakes(err error) []report.Diagnostic {
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
