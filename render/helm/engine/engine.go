package engine

import (
	"context"
	"path"
	"strings"
	"sync"
	"text/template"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Options steer rendering. The zero value is the default.
type Options struct {
	Limits Limits
	// Seed is what chance is made of. Equal seeds give equal output.
	Seed string
	// Now is the time of the clock.
	Now time.Time
	// Lookup answers the function `lookup`, given Variant. When nil, nothing is known.
	Lookup func(asked Query, variant int) Answer
	// Variant is another outcome of chance than that of the same seed and Variant 0.
	Variant int
	// Found has `lookup` find what is not known, an object with little in it; else it is not
	// there.
	Found bool
	// Only selects the template files that are executed, by their names; nil for all. What the
	// others would have changed in the values stays as it was.
	Only func(name string) bool
	// Data is what Text executes a template with, and Template are options of it; none for an error
	// where a map does not have a key.
	Data     any
	Template []string
}

// Engine renders a chart, perhaps several times. It keeps the parsed templates of the chart, and
// of those of `tpl` none. It is safe for concurrent use.
type Engine struct {
	names, builtins template.FuncMap
	// left and right are the delimiters; empty for the usual ones.
	left, right string

	actions *actions

	mu     sync.RWMutex
	parsed map[source]*parsedFile
	nodes  nodes
	named  map[string]namedActions
}

// New returns an engine.
func New() *Engine {
	return &Engine{parsed: map[source]*parsedFile{}, names: functionNames(), builtins: builtins(), actions: newActions(), named: map[string]namedActions{}}
}

// Rendering is the outcome of rendering a chart.
type Rendering struct {
	// Files are what the templates made, in the order in which they were executed.
	Files []*File
	// Chance are the calls of functions whose result is not that of their arguments.
	Chance []Chance
	// Steps and Work are what it cost, in the units of Limits.
	Steps, Work int
}

// File is the output of a template file.
type File struct {
	// Name is the path of the template, from the name of the chart.
	Name string
	Text string
	call *call
	run  *run
}

// Render executes the templates of a chart. values are those of ToRenderValues: Values,
// Release, Capabilities. An error in a template is an *Error; what there was of Chance before it is
// returned too.
func (e *Engine) Render(ctx context.Context, c *chart.Chart, values common.Values, opts Options) (rendering *Rendering, err error) {
	r := newRun(ctx, e, opts)
	defer func() {
		if failure := recover(); failure != nil {
			rendering, err = &Rendering{Chance: r.chance.calls}, r.panicked(failure)
		}
	}()
	templates, err := templatesOf(c, values)
	if err != nil {
		return nil, err
	}
	root := template.New(tplName).Option("missingkey=zero")
	for _, t := range templates {
		if err := e.add(root, t.name, t.text); err != nil {
			return nil, err
		}
		r.filesOf[path.Dir(t.base)], _ = t.values["Files"].(files)
	}
	root.Funcs(r.functions(root))
	files, err := r.execute(root, templates)
	if err != nil {
		return &Rendering{Chance: r.chance.calls}, err
	}
	return &Rendering{Files: files, Chance: r.chance.calls, Steps: r.steps, Work: r.work}, nil
}

// execute renders each template that is no partial.
func (r *run) execute(root *template.Template, templates []chartTemplate) ([]*File, error) {
	var files []*File
	for _, t := range templates {
		if strings.HasPrefix(path.Base(t.name), "_") || r.opts.Only != nil && !r.opts.Only(t.name) {
			continue
		}
		t.values["Template"] = common.Values{"Name": t.name, "BasePath": t.base}
		r.file = t.name
		made, err := r.call(func(w *frame) error { return root.ExecuteTemplate(w, t.name, t.values) })
		if err != nil {
			return nil, r.failed(t.name, err)
		}
		made.dropNoValue()
		files = append(files, &File{Name: t.name, Text: made.text, call: made, run: r})
	}
	return files, nil
}

// add parses a file and adds its templates to root.
func (e *Engine) add(root *template.Template, name, text string) error {
	file, err := e.file(source{name: name, text: text})
	if err != nil {
		return err
	}
	for name, tree := range file.trees {
		if _, err := root.AddParseTree(name, tree); err != nil {
			return err
		}
	}
	return nil
}
