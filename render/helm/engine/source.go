package engine

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sort"
	"strings"
	"sync"
	"text/template/parse"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v4/pkg/chart/common"
)

// source is a text with templates: a file of a chart, or a text passed to `tpl`.
type source struct {
	// name is empty for a text passed to `tpl`.
	name, text string
}

// parsedFile holds the instrumented templates of a source.
type parsedFile struct {
	source
	trees map[string]*parse.Tree
	// lines returns the offsets of the ends of lines.
	lines func() []int
	// namesKubeVersion is set when an action may name the version of Kubernetes.
	namesKubeVersion bool
	// textNode is the node of a whole text without actions; -1 if it has any.
	textNode int
}

// maxActions limits the actions of a text. The parser recurses for each block in a block, and for each `else
// if`.
const maxActions = 50_000

// tplName is the name of the templates that `tpl` executes, as in Helm.
const tplName = "gotpl"

// parsedText is the result of parsing a source.
type parsedText struct {
	trees map[string]*parse.Tree
	err   error
}

// parseAhead parses the template files that are not parsed yet, several at a time.
func (e *Engine) parseAhead(templates []chartTemplate) map[source]parsedText {
	var left []source
	e.mu.RLock()
	for _, t := range templates {
		if e.files[fileOf{t.name, t.file}] == nil {
			left = append(left, source{name: t.name, text: string(t.file.Data)})
		}
	}
	e.mu.RUnlock()
	made := make([]parsedText, len(left))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range left {
		group.Go(func() error {
			made[i] = e.parseText(s)
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	all := make(map[source]parsedText, len(left))
	for i, s := range left {
		all[s] = made[i]
	}
	return all
}

// template parses a template file of a chart, once.
func (e *Engine) template(name string, of *common.File, ahead map[source]parsedText) (*parsedFile, error) {
	key := fileOf{name, of}
	e.mu.RLock()
	known, ok := e.files[key]
	e.mu.RUnlock()
	if ok {
		return known, nil
	}
	file, err := e.file(source{name: name, text: string(of.Data)}, ahead)
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

// file parses a template file, once. ahead contains the files that are parsed already.
func (e *Engine) file(s source, ahead map[source]parsedText) (*parsedFile, error) {
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
	text, ok := ahead[s]
	if !ok {
		text = e.parseText(s)
	}
	file, err := text.file(s, cmp.Or(e.left, leftDelimiter), &e.nodes)
	if err == nil && len(e.parsed) < maxParsed {
		e.parsed[s] = file
	}
	return file, err
}

// text parses a text passed to `tpl`, once in a run.
func (r *run) text(text string) (*parsedFile, error) {
	s := source{text: text}
	if file, ok := r.parsed[s]; ok {
		return file, nil
	}
	file, err := r.engine.parseText(s).file(s, cmp.Or(r.engine.left, leftDelimiter), &r.nodes)
	if err == nil && len(r.parsed) < maxParsed {
		r.parsed[s] = file
	}
	return file, err
}

// leftDelimiter is the default left delimiter of actions.
const leftDelimiter = "{{"

// parseText parses a source.
func (e *Engine) parseText(s source) parsedText {
	if n := strings.Count(s.text, cmp.Or(e.left, leftDelimiter)); n > maxActions {
		return parsedText{err: &Error{File: s.name, Line: 1, Limit: true, Message: fmt.Sprintf("the template has %d actions, more than the limit of %d", n, maxActions)}}
	}
	trees, err := parse.Parse(cmp.Or(s.name, tplName), s.text, e.left, e.right, e.names, e.builtins)
	if err != nil {
		return parsedText{err: parseError(s, err)}
	}
	return parsedText{trees: trees}
}

// file instruments the templates of a source and numbers their nodes. left is the left delimiter of actions.
func (t parsedText) file(s source, left string, numbered *nodes) (*parsedFile, error) {
	if t.err != nil {
		return nil, t.err
	}
	file := &parsedFile{source: s, trees: t.trees, textNode: -1, namesKubeVersion: strings.Contains(s.text, kubeVersionField) || strings.Contains(s.text, servedField), lines: sync.OnceValue(func() []int { return lineEnds(s.text) })}
	if !strings.Contains(s.text, left) {
		file.textNode = numbered.note(node{file: file, literal: true, parent: -1})
	}
	for _, name := range sortedKeys(t.trees) {
		numbered.instrument(file, t.trees[name])
	}
	return file, nil
}

// maxParsed limits how many texts an engine keeps, and how many texts of `tpl` a run keeps.
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

// parseError converts an error of the parser: "template: NAME:LINE: MESSAGE".
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

// Error is an error in a template, or in its values.
type Error struct {
	// File is the template file, as File.Name; for a text passed to `tpl`, the file of the call.
	File string
	// Line is the line of the innermost executed action.
	Line    int
	Message string
	// Limit is set when the template may be correct, but its result is not known: it costs more than the limits allow, or
	// a function returned an *Error with Limit.
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
