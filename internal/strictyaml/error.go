package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is a mistake in a file.
type Error struct {
	// Path is the file, as given by the caller.
	Path string
	// Line and Column count from 1. They are 0 for a mistake of the file as a whole.
	Line, Column int
	// Key is the path of the field, like targets[0].name. It is empty for the document.
	Key string
	// Message describes what is wrong and what is expected.
	Message string
}

func (e *Error) Error() string {
	where := e.Path + ": "
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d: ", e.Path, e.Line, e.Column)
	}
	if e.Key != "" {
		where += e.Key + ": "
	}
	return where + e.Message
}

// Errors returns the *Error values that err joins, in order.
func Errors(err error) []*Error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*Error
		for _, e := range joined.Unwrap() {
			all = append(all, Errors(e)...)
		}
		return all
	}
	if e := new(Error); errors.As(err, &e) {
		return []*Error{e}
	}
	return nil
}

// joined joins errors in the order of the file.
func joined(errs []*Error) error {
	sorted := slices.SortedStableFunc(slices.Values(errs), func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	all := make([]error, len(sorted))
	for i, e := range sorted {
		all[i] = e
	}
	return errors.Join(all...)
}

// syntaxError returns an Error for an error of a YAML parser, which has the line in its message.
// Offset is the number of lines before the parsed text.
func syntaxError(path string, err error, offset int) *Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if n, rest, ok := cutLine(message); ok {
		line, message = n, rest
		if countsFromZero(message) {
			line++
		}
	}
	return &Error{Path: path, Line: line + offset, Column: 1, Message: "not valid YAML: " + message}
}

// cutLine splits "line 3: what" into 3 and "what".
func cutLine(message string) (line int, rest string, ok bool) {
	prefix, rest, ok := strings.Cut(message, ": ")
	number, isLine := strings.CutPrefix(prefix, "line ")
	line, err := strconv.Atoi(number)
	return line, rest, ok && isLine && err == nil
}

// countsFromZero reports whether a message is one of the YAML parser, whose lines
// count from 0, and not of its scanner, whose lines count from 1
// (go.yaml.in/yaml/v3, decode.go).
func countsFromZero(message string) bool {
	what, ok := strings.CutPrefix(message, "did not find expected ")
	return ok && slices.Contains([]string{
		"key", "node content", "'-' indicator", "',' or ']'", "',' or '}'", "<document start>",
	}, what)
}
