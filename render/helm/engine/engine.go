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

// Options configure rendering. The zero value is the default.
type Options struct {
	Limits Limits
	// Seed determines random results. Equal seeds give equal output.
	Seed string
	// Now is the time of the clock.
	Now time.Time
	// Lookup implements the function `lookup`, given Variant. If nil, nothing is known.
	Lookup func(asked Query, variant int) Answer
	// Variant selects other random results for the same seed.
	Variant int
	// Found makes `lookup` return a minimal object for an unknown one; else it returns none.
	Found bool
	// KubeVersionRead, if set, is set to true before a template may read the version of Kubernetes. Only then
	// a template's output depends on that version.
	KubeVersionRead *atomic.Bool
	// Data is the data with which Text executes a template, and Template its options; by default a missing key
	// of a map is an error.
	Data     any
	Template []string
	// Used, if set, is what earlier calls of Text used of the limits; Text adds what it uses itself.
	Used *Used
}

// Used is what templates used of Limits.
type Used struct{ Steps, Work int }

// Engine renders a chart, perhaps several times. It keeps the chart's parsed templates, but not those of
// `tpl`. It is safe for concurrent use.
type Engine struct {
	names, builtins template.FuncMap
	// left and right are the delimiters; empty for the default ones.
	left, right string

	actions *actions
	decoded *decoded

	mu     sync.RWMutex
	parsed map[source]*parsedFile
	// files are the entries of parsed for files of charts, which do not change, by file.
	files map[fileOf]*parsedFile
	nodes nodes
	named map[string]namedActions
	// definitions are the templates of the files of parsed.
	definitions definitions
}

// fileOf is a file of a chart and its name there.
type fileOf struct {
	name string
	file *common.File
}

// New returns an engine.
func New() *Engine {
	return &Engine{parsed: map[source]*parsedFile{}, files: map[fileOf]*parsedFile{}, names: functionNames(), builtins: builtins(), actions: newActions(newNumbers()), decoded: newDecoded(), named: map[string]namedActions{}}
}

// Rendering is the result of rendering a chart.
type Rendering struct {
	// Files are the outputs of the templates, in the order of execution.
	Files []*File
	// Chance are the calls of functions whose results do not depend on their arguments alone.
	Chance []Chance
	// Steps and Work are the cost, in the units of Limits.
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

// Render executes the templates of a chart. values are those of ToRenderValues: Values, Release, Capabilities.
// An error in a template is an *Error; the calls in Chance before it are returned too.
func (e *Engine) Render(ctx context.Context, c *chart.Chart, values common.Values, opts Options) (rendering *Rendering, err error) {
	x, err := e.begin(ctx, c, values, opts)
	if err != nil {
		return x.rendering(), err
	}
	return x.rest()
}

// One executes one template file, without the changes to values by files that Render executes before it. If
// there are none, rest executes the others and returns the result of Render; else rest is nil. file is nil if
// there is no such file.
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

// execution is a rendering of a chart.
type execution struct {
	*run
	root *template.Template
	// left are the templates that remain to be executed, and files the outputs so far.
	left  []chartTemplate
	files []*File
}

// begin prepares the execution of a chart's templates.
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

// rest executes each remaining template that is no partial.
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

// isExecuted reports whether a template is executed by itself: partials are not.
func isExecuted(t chartTemplate) bool { return !strings.HasPrefix(path.Base(t.name), "_") }

// next executes a remaining template and drops those before it.
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

// rendering returns the result so far.
func (x *execution) rendering() *Rendering {
	return &Rendering{Files: x.files, Chance: x.chance.calls, Steps: x.steps, Work: x.work}
}

// recovered converts a panic to an error.
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
