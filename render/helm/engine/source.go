package engine

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"
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
	// lines returns the offsets of the ends of lines.
	lines func() []int
	// textNode stands for the whole of a text without actions; -1 if it has any.
	textNode int
}

// maxActions bounds how many actions a text may hold. The parser calls itself for each block
// within a block, and for each `else if`.
const maxActions = 50_000

// tplName is the name of the templates that `tpl` executes, as in Helm.
const tplName = "gotpl"

// template parses a template file of a chart, once.
func (e *Engine) template(name string, of *common.File) (*parsedFile, error) {
	key := fileOf{name, of}
	e.mu.RLock()
	known, ok := e.files[key]
	e.mu.RUnlock()
	if ok {
		return known, nil
	}
	file, err := e.file(source{name: name, text: string(of.Data)})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.files) < maxParsed {
		e.files[key] = file
	}
	return file, nil
}

// file parses a template file, once.
func (e *Engine) file(s source) (*parsedFile, error) {
	e.mu.RLock()
	known, ok := e.parsed[s]
	e.mu.RUnlock()
	if ok {
		return known, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if file, ok := e.parsed[s]; ok {
		return file, nil
	}
	file, err := e.parse(s, &e.nodes)
	if err == nil && len(e.parsed) < maxParsed {
		e.parsed[s] = file
	}
	return file, err
}

// text parses what a `tpl` is given, once in a run.
func (r *run) text(text string) (*parsedFile, error) {
	s := source{text: text}
	if file, ok := r.parsed[s]; ok {
		return file, nil
	}
	file, err := r.engine.parse(s, &r.nodes)
	if err == nil && len(r.parsed) < maxParsed {
		r.parsed[s] = file
	}
	return file, err
}

// parse parses and instruments a source, whose nodes are numbered.
func (e *Engine) parse(s source, numbered *nodes) (*parsedFile, error) {
	name := s.name
	if name == "" {
		name = tplName
	}
	left := cmp.Or(e.left, "{{")
	if n := strings.Count(s.text, left); n > maxActions {
		return nil, &Error{File: s.name, Line: 1, Limit: true, Message: fmt.Sprintf("the template has %d actions, more than the limit of %d", n, maxActions)}
	}
	trees, err := parse.Parse(name, s.text, e.left, e.right, e.names, e.builtins)
	if err != nil {
		return nil, parseError(s, err)
	}
	file := &parsedFile{source: s, trees: trees, textNode: -1, lines: sync.OnceValue(func() []int { return lineEnds(s.text) })}
	if !strings.Contains(s.text, left) {
		file.textNode = numbered.note(node{file: file, literal: true, parent: -1})
	}
	for _, name := range sortedKeys(trees) {
		numbered.instrument(file, trees[name])
	}
	return file, nil
}

// maxParsed is how many texts an engine keeps, and a run of those of `tpl`.
const maxParsed = 20_000

// line returns the line of an offset, counted from 1.
func (f *parsedFile) line(offset int) int {
	return sort.SearchInts(f.lines(), offset) + 1
}

func lineEnds(text string) []int {
	ends := []int{}
	for i := range len(text) {
		if text[i] == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
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
