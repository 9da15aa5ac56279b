package strictyaml

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is a YAML document of a file, with the positions of its fields and the
// mistakes found so far.
type Document struct {
	path string
	text string
	// offset is the number of lines of the file before text.
	offset int
	// top is nil when the document is empty.
	top *yaml.Node
	// fields are the nodes of the decoded fields.
	fields map[string]*yaml.Node
	errs   []*Error
}

// Parse reads a file of one document, which may be empty. The path is used in messages
// only. The error is an *Error.
func Parse(path string, data []byte) (*Document, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return newDocument(path, string(data), 0, nil), nil
	case err != nil:
		return nil, syntaxError(path, err, 0)
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, &Error{Path: path, Line: more.Line, Column: max(more.Column, 1), Message: "a second YAML document: the file must be one document"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(path, err, 0)
	}
	return newDocument(path, string(data), 0, document.Content[0]), nil
}

// ParseAll reads a file of any number of documents, and returns those that are not
// empty. The path is used in messages only. The error is the *Error of the first
// document that cannot be parsed; the documents before it are returned with it.
func ParseAll(path string, data []byte) ([]*Document, error) {
	var all []*Document
	for _, part := range split(string(data)) {
		top, err := part.parse(path)
		if err != nil {
			return all, err
		}
		if top != nil {
			all = append(all, newDocument(path, part.text, part.offset, top))
		}
	}
	return all, nil
}

// parse returns the top node of a part, or nil if it is empty. Anything after "...", and a document after a "---" line
// that ends without a line feed, is an error: kubectl would drop it without a word.
func (p part) parse(path string) (top *yaml.Node, err error) {
	for decoder := yaml.NewDecoder(strings.NewReader(p.text)); ; {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return top, nil
		case err != nil:
			return nil, syntaxError(path, err, p.offset)
		case document.Content[0].ShortTag() == "!!null":
		case top != nil:
			return nil, &Error{Path: path, Line: document.Line + p.offset, Column: max(document.Column, 1),
				Message: "a second YAML document that kubectl would drop: end the line of its --- and the one before with a line feed"}
		default:
			top = document.Content[0]
		}
	}
}

func newDocument(path, text string, offset int, top *yaml.Node) *Document {
	return &Document{path: path, text: text, offset: offset, top: top, fields: map[string]*yaml.Node{}}
}

// part is the text of a document; offset is the number of lines before it.
type part struct {
	text   string
	offset int
}

// split splits a file at its "---" lines. Such a line cannot be inside a document, since it ends
// even a scalar.
func split(text string) []part {
	var all []part
	var current strings.Builder
	start := 0
	for i, line := range strings.SplitAfter(text, "\n") {
		if after, ok := strings.CutPrefix(line, "---"); ok && (after == "" || strings.ContainsAny(after[:1], " \t\r\n")) {
			all = append(all, part{current.String(), start})
			current.Reset()
			start = i
		}
		current.WriteString(line)
	}
	return append(all, part{current.String(), start})
}

// Empty reports whether there is nothing in the document, or only comments.
func (d *Document) Empty() bool { return d.top == nil }

// Has reports whether the field key is in the document, with a value of any type.
func (d *Document) Has(key string) bool { return d.fields[key] != nil }

// Line returns the line of the field key, 0 if it is not in the document.
func (d *Document) Line(key string) int {
	if n := d.fields[key]; n != nil {
		return n.Line + d.offset
	}
	return 0
}

// Error returns a mistake of the field key, at the field or its nearest ancestor in the
// document.
func (d *Document) Error(key, format string, args ...any) *Error {
	at := key
	for d.fields[at] == nil && at != "" {
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	return d.errorAt(d.fields[at], key, format, args...)
}

func (d *Document) errorAt(n *yaml.Node, key, format string, args ...any) *Error {
	e := &Error{Path: d.path, Line: d.offset + 1, Column: 1, Key: key, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		e.Line, e.Column = d.offset+n.Line, n.Column
	}
	return e
}

// Find returns the first field with a value among those that is chooses by their keys; nil if there is none. The message
// is that of the mistake to be.
func (d *Document) Find(value string, is func(key string) bool, format string, args ...any) *Error {
	var found *Error
	for key, n := range d.fields {
		if n.Kind != yaml.ScalarNode || n.Value != value || !is(key) {
			continue
		}
		if e := d.errorAt(n, key, format, args...); found == nil || e.Line < found.Line || e.Line == found.Line && e.Column < found.Column {
			found = e
		}
	}
	return found
}

// Fail records a mistake of the field key, see Error.
func (d *Document) Fail(key, format string, args ...any) {
	d.errs = append(d.errs, d.Error(key, format, args...))
}

func (d *Document) failAt(n *yaml.Node, key, format string, args ...any) {
	d.errs = append(d.errs, d.errorAt(n, key, format, args...))
}

// Failed reports whether a mistake of exactly this field is recorded.
func (d *Document) Failed(key string) bool {
	for _, e := range d.errs {
		if e.Key == key {
			return true
		}
	}
	return false
}

// Err returns the recorded mistakes, joined in the order of the file: each is an
// *Error. It is nil when there are none.
func (d *Document) Err() error { return joined(d.errs) }
