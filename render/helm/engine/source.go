package engine

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"text/template/parse"
)

// source is a text with templates: a file of a chart, or what `tpl` was given.
type source struct {
	// name is empty for the text of a `tpl`.
	name, text string
}

// parsedFile are the templates of a source, instrumented.
type parsedFile struct {
	source
	trees map[string]*parse.Tree
	// lines are the offsets of the ends of lines; nil until they are requested.
	lines []int
	// textNode stands for the whole of a text without actions; -1 if it has any.
	textNode int
}

// maxActions bounds how many actions a text may hold. The parser calls itself for each block
// within a block, and for each `else if`.
const maxActions = 50_000

// tplName is the name of the templates that `tpl` executes, as in Helm.
const tplName = "gotpl"

// parse parses and instruments a source, once.
func (e *Engine) parse(s source) (*parsedFile, error) {
	if file, ok := e.parsed[s]; ok {
		return file, nil
	}
	name := s.name
	if name == "" {
		name = tplName
	}
	if n := strings.Count(s.text, "{{"); n > maxActions {
		return nil, &Error{File: s.name, Line: 1, Limit: true, Message: fmt.Sprintf("the template has %d actions, more than the limit of %d", n, maxActions)}
	}
	trees, err := parse.Parse(name, s.text, "", "", e.names, builtins())
	if err != nil {
		return nil, parseError(s, err)
	}
	file := &parsedFile{source: s, trees: trees, textNode: -1}
	if !strings.Contains(s.text, "{{") {
		file.textNode = e.note(node{file: file, literal: true, parent: -1})
	}
	for _, name := range sortedKeys(trees) {
		e.instrument(file, trees[name])
	}
	if len(e.parsed) < maxParsed {
		e.parsed[s] = file
	}
	return file, nil
}

// maxParsed is how many texts an engine keeps.
const maxParsed = 20_000

// line returns the line of an offset, counted from 1.
func (f *parsedFile) line(offset int) int {
	if f.lines == nil {
		f.lines = []int{}
		for i := range len(f.text) {
			if f.text[i] == '\n' {
				f.lines = append(f.lines, i)
			}
		}
	}
	return sort.SearchInts(f.lines, offset) + 1
}

// parseError is the error of the parser: "template: NAME:LINE: MESSAGE".
func parseError(s source, err error) error {
	text := strings.TrimPrefix(err.Error(), "template: ")
	name := s.name
	if name == "" {
		name = tplName
	}
	line, message := 1, strings.TrimPrefix(text, name+":")
	if n, scanErr := fmt.Sscanf(message, "%d:", &line); scanErr != nil || n != 1 {
		return &Error{File: s.name, Line: 1, Message: text}
	}
	_, message, _ = strings.Cut(message, ": ")
	return &Error{File: s.name, Line: line, Message: message}
}

// Error is what is wrong with a template, or with what it is given.
type Error struct {
	// File is the template file, as File.Name; of what `tpl` was given the file of the
	// call.
	File string
	// Line is that of the innermost action that was executed.
	Line    int
	Message string
	// Limit is set when the template may be correct, but costs more than the limits allow.
	Limit bool
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message) }

// asError returns the first *Error in the chain of err.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
