package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

// run is one rendering: its cost so far, and the node that is being executed.
type run struct {
	ctx    context.Context
	engine *Engine
	opts   Options
	limits Limits
	chance chance

	// writing is the frame that templates write to.
	writing *frame
	// file is the template file that is executed.
	file string
	// at is the last executed node.
	at    int
	depth int
	steps int
	work  int
	bytes int

	// parsed are the texts passed to `tpl`, nodes their nodes, and actions their actions.
	parsed  map[source]*parsedFile
	nodes   nodes
	actions *actions

	// filesOf are the files of charts that are no templates, by the charts' directories, and copies the same
	// files as calls.
	filesOf map[string]files
	copies  map[string][]*call

	// texts are the outputs of include and tpl by their text: a variable may contain one.
	texts map[string]*call
	// calls is the number of these calls.
	calls int
}

func newRun(ctx context.Context, e *Engine, opts Options) *run {
	r := &run{ctx: ctx, engine: e, opts: opts, limits: opts.Limits.withDefaults(), at: -1, texts: map[string]*call{},
		parsed: map[source]*parsedFile{}, nodes: nodes{first: ofRun}, filesOf: map[string]files{},
	}
	r.chance = chance{run: r, counts: map[string]int{}}
	return r
}

// decoded returns the engine's cache of decoded texts; nil without an engine.
func (r *run) decoded() *decoded {
	if r.engine == nil {
		return nil
	}
	return r.engine.decoded
}

// tracing returns the functions that instrumented templates call.
func (r *run) tracing() template.FuncMap {
	return template.FuncMap{passName: r.pass, writeName: r.write, enterName: r.enter, leaveName: r.leave, kubeVersionName: r.namedKubeVersion}
}

// pass is called before a node is executed.
func (r *run) pass(id int) (string, error) {
	r.at = id
	if err := r.step(); err != nil {
		return "", err
	}
	r.writing.begin(id)
	return "", nil
}

// write is called with the value that an action writes.
func (r *run) write(id int, value reflect.Value) (reflect.Value, error) {
	r.at = id
	if err := r.printable(value); err != nil {
		return value, err
	}
	r.writing.began(id)
	return value, nil
}

// printable limits the size of printed values: a map may contain itself.
func (r *run) printable(value reflect.Value) error {
	if !value.IsValid() {
		return nil
	}
	switch value.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return nil
	}
	return r.spend(r.size(value))
}

// enter is called before `{{template}}`.
func (r *run) enter(id int) (string, error) {
	if _, err := r.pass(id); err != nil {
		return "", err
	}
	r.writing.via = &passage{node: id, outer: r.writing.via}
	return "", r.deeper()
}

func (r *run) leave(int) string {
	r.depth--
	r.writing.via = r.writing.via.outer
	return ""
}

// call runs a function that writes a text of its own, and returns the text with its trace. After an error the
// run cannot be continued.
func (r *run) call(execute func(w *frame) error) (*call, error) {
	w := &frame{run: r, outer: r.writing}
	w.made = &call{caller: r.at}
	if w.outer != nil {
		w.made.frame, w.made.via = w.outer.made, w.outer.via
	}
	r.writing = w
	if err := execute(w); err != nil {
		return nil, err
	}
	r.writing = w.outer
	w.made.text = w.text.String()
	return w.made, nil
}

// include executes a template by its name.
func (r *run) include(t *template.Template) func(string, any) (string, error) {
	return func(name string, data any) (string, error) {
		if err := r.deeper(); err != nil {
			return "", err
		}
		caller := r.at
		made, err := r.call(func(w *frame) error { return t.ExecuteTemplate(w, name, data) })
		if err != nil {
			return "", err
		}
		r.depth--
		r.at = caller
		r.made(made)
		return made.text, nil
	}
}

// tpl executes a text. Templates that it defines are visible only in it.
func (r *run) tpl(parent *template.Template) func(string, any) (string, error) {
	return func(text string, data any) (string, error) {
		if err := r.deeper(); err != nil {
			return "", err
		}
		caller := r.at
		made, err := r.evaluate(parent, text, data)
		if err != nil {
			return "", err
		}
		r.depth--
		r.at = caller
		made.dropNoValue()
		r.made(made)
		return made.text, nil
	}
}

func (r *run) evaluate(parent *template.Template, text string, data any) (*call, error) {
	if err := r.spend(len(text)); err != nil {
		return nil, err
	}
	file, err := r.text(text)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(text, "{{") {
		return r.call(func(w *frame) error { return w.plain(file) })
	}
	if len(file.trees) == 1 && !strings.Contains(text, tplName) {
		t := parent.New(tplName) // it defines no templates that others could see
		t.Tree = file.trees[tplName]
		return r.call(func(w *frame) error { return t.Execute(w, data) })
	}
	t, err := parent.Clone()
	if err != nil {
		return nil, fmt.Errorf("cannot clone template: %w", err)
	}
	t.Option("missingkey=zero")
	t.Funcs(template.FuncMap{"include": r.include(t), "tpl": r.tpl(t)})
	t = t.New(parent.Name())
	for _, name := range sortedKeys(file.trees) {
		if _, err := t.AddParseTree(name, file.trees[name]); err != nil {
			return nil, err
		}
	}
	return r.call(func(w *frame) error { return t.Execute(w, data) })
}

// made records the output of an include or tpl for the action that called it.
func (r *run) made(c *call) {
	if c.text == "" {
		return
	}
	r.calls++
	c.number = r.calls
	r.writing.pending = append(r.writing.pending, c)
	r.texts[c.text] = c
}

// failed converts the error of an execution to an *Error.
func (r *run) failed(name string, err error) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if e := asError(err); e != nil {
		if e.File == "" {
			e.File, e.Line = r.where(name)
		}
		return e
	}
	file, line := r.where(name)
	return &Error{File: file, Line: line, Message: message(err)}
}

func (r *run) panicked(failure any) error {
	file, line := r.where("")
	return &Error{File: file, Line: line, Message: fmt.Sprint(failure)}
}

// where returns the template file and line of the last executed node; name and 1 if there is none.
func (r *run) where(name string) (string, int) {
	if r.at < 0 {
		return name, 1
	}
	place := r.place(r.at, 0)
	for c := r.writing; place.File == "" && c != nil; c = c.outer {
		if c.made.caller >= 0 {
			place = r.place(c.made.caller, 0)
		}
	}
	return place.File, place.Line
}

// message returns the text of the innermost error, without the positions that text/template puts before it.
func message(err error) string {
	text := err.Error()
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		text = inner.Error()
	}
	if strings.HasPrefix(text, "template: ") {
		if _, after, found := strings.Cut(text, ">: "); found {
			return after
		}
	}
	return text
}
