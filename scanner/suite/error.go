package suite

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is a mistake in a file of a suite. All mistakes of a suite are joined with
// errors.Join.
type Error struct {
	// Path is the file, below the directory as given to Open.
	Path string
	// Line and Column count from 1; 0 when the mistake is the file's as a whole.
	Line, Column int
	// Key is the path of the field, like requests[1].operation; may be empty.
	Key string
	// Message says what is wrong and what would be right.
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

// inOrder joins errors in the order of lines and columns.
func inOrder(errs []*Error) error {
	slices.SortStableFunc(errs, func(a, b *Error) int {
		return 2*sign(a.Line-b.Line) + sign(a.Column-b.Column)
	})
	all := make([]error, len(errs))
	for i, e := range errs {
		all[i] = e
	}
	return errors.Join(all...)
}

func sign(n int) int { return max(-1, min(n, 1)) }

// syntaxError locates what the YAML parser says, which names the line in its
// message; offset is the lines before the text it was given.
func syntaxError(path string, err error, offset int) *Error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if prefix, rest, ok := strings.Cut(message, ": "); ok {
		if n, err := strconv.Atoi(strings.TrimPrefix(prefix, "line ")); err == nil {
			line, message = n, rest
			if countsFromZero(message) {
				line++
			}
		}
	}
	return &Error{Path: path, Line: line + offset, Column: 1, Message: "not valid YAML: " + message}
}

// countsFromZero tells the messages of the YAML parser, whose lines count from 0,
// from those of its scanner, whose lines count from 1 (go.yaml.in/yaml/v3,
// decode.go).
func countsFromZero(message string) bool {
	what, ok := strings.CutPrefix(message, "did not find expected ")
	return ok && slices.Contains([]string{
		"key", "node content", "'-' indicator", "',' or ']'", "',' or '}'", "<document start>",
	}, what)
}
