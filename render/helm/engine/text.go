package engine

import (
	"context"
	"fmt"
	"strings"
	"text/template"
	"unicode"
)

// NewText returns an engine for templates of no chart, with their own delimiters and functions. names are the
// functions for the parser.
func NewText(left, right string, names template.FuncMap) *Engine {
	return &Engine{parsed: map[source]*parsedFile{}, left: left, right: right, names: names, builtins: builtins(), actions: newActions(newNumbers()), decoded: newDecoded(), named: map[string]namedActions{}}
}

// Text executes a single template, with functions of the names that NewText was given.
func (e *Engine) Text(ctx context.Context, name, text string, functions template.FuncMap, opts Options) (file *File, err error) {
	r := newRun(ctx, e, opts)
	if used := opts.Used; used != nil {
		r.steps, r.work = used.Steps, used.Work
		defer func() { used.Steps, used.Work = r.steps, r.work }()
	}
	defer func() {
		if failure := recover(); failure != nil {
			file, err = nil, r.panicked(failure)
		}
	}()
	options := opts.Template
	if options == nil {
		options = []string{"missingkey=error"}
	}
	root := template.New(tplName).Option(options...)
	if err := e.add(root, name, text); err != nil {
		return nil, err
	}
	printing := template.FuncMap{
		"print": fmt.Sprint, "printf": fmt.Sprintf, "println": fmt.Sprintln,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,
	}
	f := template.FuncMap{}
	for name := range strings.FieldsFuncSeq(text, isNoName) { // to prepare all functions takes longer than to execute most texts
		if fn, ok := functions[name]; ok {
			f[name] = r.bounded(name, fn)
		} else if fn, ok := printing[name]; ok {
			f[name] = r.bounded(name, fn)
		}
	}
	root.Funcs(f).Funcs(r.tracing())
	r.file = name
	made, err := r.call(func(w *frame) error { return root.ExecuteTemplate(w, name, opts.Data) })
	if err != nil {
		return nil, r.failed(name, err)
	}
	return &File{Name: name, Text: made.text, call: made, run: r}, nil
}

// isNoName reports whether a character is not one of the names of functions.
func isNoName(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }
