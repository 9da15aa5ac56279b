package engine

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	// KubeVersionRead, when set, is set to true before a template may read the version of Kubernetes. What a
	// template makes depends on that version only then.
	KubeVersionRead *atomic.Bool
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
	decoded *decoded

	mu     sync.RWMutex
	parsed map[source]*parsedFile
	// files are those of parsed that are files of charts, which do not change, by these.
	files map[fileOf]*parsedFile
	nodes nodes
	named map[string]namedActions
	// definitions are the templates of the files of parsed.
	definitions definitions
}

// fileOf is a file of a chart, by the name that it has there.
type fileOf struct {
	name string
	file *common.File
}

// New returns an engine.
func New() *Engine {
	return &Engine{parsed: map[source]*parsedFile{}, files: map[fileOf]*parsedFile{}, names: functionNames(), builtins: builtins(), actions: newActions(newNumbers()), decoded: newDecoded(), named: map[string]namedActions{}}
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
	// First is set when no other template file was executed before it.
	First bool

	call *call
	run  *run
}

// Render executes the templates of a chart. values are those of ToRenderValues: Values,
// Release, Capabilities. An error in a template is an *Error; what there was of Chance before it is
// returned too.
func (e *Engine) Render(ctx context.Context, c *chart.Chart, values common.Values, opts Options) (rendering *Rendering, err error) {
	x, err := e.begin(ctx, c, values, opts)
	if err != nil {
		return x.rendering(), err
	}
	return x.rest()
}

// One executes one template file, without what those that Render executes before it change in the values. If there are none,
// rest executes the others, and returns what Render does; else rest is nil. file is nil if there is no such file.
func (e *Engine) One(ctx context.Context, c *chart.Chart, values common.Values, opts Options, name string) (file *File, rest func() (*Rendering, error), err error) {
	x, err := e.begin(ctx, c, values, opts)
	if err != nil {
		return nil, nil, err
	}
	at := slices.IndexFunc(x.left, func(t chartTemplate) bool { return t.name == name })
	if at < 0 {
		return nil, nil, nil
	}
	if file, err = x.next(at); err == nil && file.First {
		rest = x.rest
	}
	return file, rest, err
}

// execution is a chart that is being rendered.
type execution struct {
	*run
	root *template.Template
	// left are the templates that were not executed so far, and files what others made.
	left  []chartTemplate
	files []*File
}

// begin prepares what the templates of a chart need to be executed.
func (e *Engine) begin(ctx context.Context, c *chart.Chart, values common.Values, opts Options) (x *execution, err error) {
	x = &execution{run: newRun(ctx, e, opts), root: template.New(tplName).Option("missingkey=zero")}
	defer x.recovered(&err)
	if x.left, err = templatesOf(c, values); err != nil {
		return x, err
	}
	ahead := e.parseAhead(x.left)
	for _, t := range x.left {
		file, err := e.template(t.name, t.file, ahead)
		if err == nil {
			err = file.add(x.root)
		}
		if err != nil {
			return x, err
		}
		x.filesOf[path.Dir(t.base)], _ = t.values["Files"].(files)
	}
	x.root.Funcs(x.functions(x.root))
	return x, nil
}

// rest executes each template that was not executed and is no partial.
func (x *execution) rest() (*Rendering, error) {
	for len(x.left) > 0 {
		if !isExecuted(x.left[0]) {
			x.left = x.left[1:]
		} else if _, err := x.next(0); err != nil {
			return x.rendering(), err
		}
	}
	return x.rendering(), nil
}

// isExecuted reports whether a template is executed by itself, as partials are not.
func isExecuted(t chartTemplate) bool { return !strings.HasPrefix(path.Base(t.name), "_") }

// next executes one of the templates that are left, without those before it.
func (x *execution) next(at int) (file *File, err error) {
	defer x.recovered(&err)
	t, first := x.left[at], len(x.files) == 0 && !slices.ContainsFunc(x.left[:at], isExecuted)
	x.left = x.left[at+1:]
	t.values["Template"] = common.Values{"Name": t.name, "BasePath": t.base}
	x.file = t.name
	made, err := x.call(func(w *frame) error { return x.root.ExecuteTemplate(w, t.name, t.values) })
	if err != nil {
		return nil, x.failed(t.name, err)
	}
	made.dropNoValue()
	file = &File{Name: t.name, Text: made.text, First: first, call: made, run: x.run}
	x.files = append(x.files, file)
	return file, nil
}

// rendering is what was made so far.
func (x *execution) rendering() *Rendering {
	return &Rendering{Files: x.files, Chance: x.chance.calls, Steps: x.steps, Work: x.work}
}

// recovered makes an error of a panic.
func (r *run) recovered(err *error) {
	if failure := recover(); failure != nil {
		*err = r.panicked(failure)
	}
}

// add parses a text and adds its templates to root.
func (e *Engine) add(root *template.Template, name, text string) error {
	file, err := e.file(source{name: name, text: text}, nil)
	if err != nil {
		return err
	}
	return file.add(root)
}

// add adds the templates of a file to root.
func (f *parsedFile) add(root *template.Template) error {
	for name, tree := range f.trees {
		if _, err := root.AddParseTree(name, tree); err != nil {
			return err
		}
	}
	return nil
}
