package scanner

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ConfigFile is the name of the configuration at the top of a repository.
const ConfigFile = ".preadmit.yaml"

// ConfigKind is the kind of a configuration file; its apiVersion is APIVersion.
const ConfigKind = "ScanConfig"

// ConfigError is a mistake in a configuration file. ParseConfig joins all
// mistakes of a file with errors.Join, in the order of the file.
type ConfigError struct {
	// Path is the file as given to ParseConfig.
	Path string
	// Line and Column count from 1.
	Line, Column int
	// Key is the path of the field, like targets[0].name; empty for the document.
	Key string
	// Message says what is wrong and what would be right.
	Message string
}

func (e *ConfigError) Error() string {
	where := fmt.Sprintf("%s:%d:%d: ", e.Path, e.Line, e.Column)
	if e.Key == "" {
		return where + e.Message
	}
	return where + e.Key + ": " + e.Message
}

// ParseConfig reads a configuration strictly: an unknown or repeated key, a value
// of the wrong type or one that means nothing is an error at its line. The path is
// used for messages only. Errors are *ConfigError, joined.
func ParseConfig(path string, data []byte) (*Config, error) {
	document, err := configDocument(path, data)
	switch {
	case errors.Is(err, io.EOF):
		return nil, &ConfigError{Path: path, Line: 1, Column: 1, Message: "the file is empty: it needs at least apiVersion and kind"}
	case err != nil:
		return nil, err
	}
	d := &configDecoder{path: path, nodes: map[string]*yaml.Node{}}
	config := &Config{}
	d.decode("", document, config)
	d.check(config)
	if len(d.errs) > 0 {
		return nil, d.err()
	}
	config.complete()
	return config, nil
}

// DecodeConfig fills into, a pointer to a struct with json tags, from a configuration
// file of another kind, as strictly as ParseConfig. Errors are *ConfigError, joined.
// With wrong the caller says of a key that its value means nothing, at its line; it is
// nil for keys that are not in the file. A file may be empty.
func DecodeConfig(path string, data []byte, into any) (wrong func(key, message string) error, err error) {
	d := &configDecoder{path: path, nodes: map[string]*yaml.Node{}}
	switch document, err := configDocument(path, data); {
	case errors.Is(err, io.EOF): // nothing is in it
	case err != nil:
		return nil, err
	default:
		d.decode("", document, into)
	}
	if len(d.errs) > 0 {
		return nil, d.err()
	}
	return func(key, message string) error {
		n := d.nodes[key]
		if n == nil {
			return nil
		}
		return &ConfigError{Path: path, Line: n.Line, Column: n.Column, Key: key, Message: message}
	}, nil
}

// configDocument parses the one YAML document of a configuration. A file without one
// is io.EOF.
func configDocument(path string, data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, syntaxError(path, err)
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, &ConfigError{Path: path, Line: more.Line, Column: max(more.Column, 1), Message: "a second YAML document: a configuration is one document"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(path, err)
	}
	return document.Content[0], nil
}

// syntaxError locates what the YAML parser says; it has no way to tell the line but
// its message.
func syntaxError(path string, err error) *ConfigError {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if n, rest, ok := cutLine(message); ok {
		line, message = n, rest
		if countsFromZero(message) {
			line++
		}
	}
	return &ConfigError{Path: path, Line: line, Column: 1, Message: "not valid YAML: " + message}
}

// cutLine splits "line 3: what" into 3 and "what".
func cutLine(message string) (line int, rest string, ok bool) {
	prefix, rest, ok := strings.Cut(message, ": ")
	number, isLine := strings.CutPrefix(prefix, "line ")
	line, err := strconv.Atoi(number)
	return line, rest, ok && isLine && err == nil
}

// countsFromZero tells the messages of the parser proper, whose lines count from 0,
// from those of the scanner, whose lines count from 1 (go.yaml.in/yaml/v3, decode.go).
func countsFromZero(message string) bool {
	what, ok := strings.CutPrefix(message, "did not find expected ")
	return ok && slices.Contains([]string{
		"key", "node content", "'-' indicator", "',' or ']'", "',' or '}'", "<document start>",
	}, what)
}

// err joins the errors in the order of the file.
func (d *configDecoder) err() error {
	sort.SliceStable(d.errs, func(i, j int) bool {
		a, b := d.errs[i], d.errs[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	errs := make([]error, len(d.errs))
	for i, e := range d.errs {
		errs[i] = e
	}
	return errors.Join(errs...)
}
