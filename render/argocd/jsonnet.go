package argocd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-jsonnet"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Jsonnet is evaluated in a separate process: it has no limit on time and memory, and one expression may need more
// memory than there is.

const (
	// maxStack limits the depth of calls in Jsonnet.
	maxStack = 500
	// maxText limits the total result of the files of a source, in bytes.
	maxText = 32 << 20
)

// WorkKind is the kind of job that Work runs.
const WorkKind = "jsonnet"

// jsonnetJob are the files of a source to evaluate.
type jsonnetJob struct {
	Files []string `json:"files"`
	// Top is the directory that imports must not leave, Dirs are the directories where they are searched.
	Top  string   `json:"top"`
	Dirs []string `json:"dirs,omitempty"`
	// TLAs and ExtVars are the variables of the source, expanded.
	TLAs    []JsonnetVar `json:"tlas,omitempty"`
	ExtVars []JsonnetVar `json:"extVars,omitempty"`
}

// jsonnetResult are the results of the files, up to the first that fails.
type jsonnetResult struct {
	Texts  []string   `json:"texts"`
	Failed string     `json:"failed,omitempty"`
	Trace  tree.Trace `json:"trace"`
}

// Work evaluates Jsonnet in a separate process.
func Work(_ context.Context, p *isolate.Process, t *tree.Tree, spec json.RawMessage) (any, error) {
	p.Bound()
	var j jsonnetJob
	if err := json.Unmarshal(spec, &j); err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	out := &jsonnetResult{Texts: []string{}, Trace: tree.NewTrace()}
	vm := j.machine(t, out.Trace)
	size := 0
	for _, name := range j.Files {
		p.At(name)
		text, err := vm.EvaluateFile(name) // resolves imports relative to the file's directory
		if size += len(text); err == nil && size > maxText {
			err = fmt.Errorf("it makes more than %d MiB", maxText>>20)
		}
		if err != nil {
			out.Failed = err.Error()
			return out, nil
		}
		out.Texts = append(out.Texts, text)
	}
	return out, nil
}

// machine returns a virtual machine with the variables of a source, which imports files from a tree.
func (j *jsonnetJob) machine(t *tree.Tree, trace tree.Trace) *jsonnet.VM {
	vm := jsonnet.MakeVM()
	vm.MaxStack = maxStack
	for _, v := range j.TLAs {
		if v.Code {
			vm.TLACode(v.Name, v.Value)
		} else {
			vm.TLAVar(v.Name, v.Value)
		}
	}
	for _, v := range j.ExtVars {
		if v.Code {
			vm.ExtCode(v.Name, v.Value)
		} else {
			vm.ExtVar(v.Name, v.Value)
		}
	}
	vm.SetTraceOut(io.Discard)
	vm.Importer(&importer{jsonnetJob: j, tree: t, trace: trace, known: map[string]jsonnet.Contents{}})
	return vm
}

// importer imports files of the tree: relative to the importing file, to the directory of the source, and to its
// libraries.
type importer struct {
	*jsonnetJob
	tree  *tree.Tree
	trace tree.Trace
	known map[string]jsonnet.Contents
}

// Import implements jsonnet.Importer.
func (im *importer) Import(from, name string) (jsonnet.Contents, string, error) {
	if path.IsAbs(name) {
		return jsonnet.Contents{}, "", fmt.Errorf("couldn't open import %q: it leads out of the repository", name)
	}
	for _, dir := range append([]string{path.Dir(from)}, im.Dirs...) {
		at := path.Join(dir, name)
		if !within(im.Top, at) {
			continue
		}
		if known, ok := im.known[at]; ok {
			return known, at, nil
		}
		im.tree.TraceFile(at, im.trace)
		to := im.tree.Resolve(at)
		if to.Err != nil || to.IsDir {
			continue
		}
		data, _, err := im.tree.Load(at, im.trace)
		if err != nil {
			return jsonnet.Contents{}, "", fmt.Errorf("couldn't open import %q: %w", name, err)
		}
		im.known[at] = jsonnet.MakeContents(string(data))
		return im.known[at], at, nil
	}
	return jsonnet.Contents{}, "", fmt.Errorf("couldn't open import %q: no match in the repository, in the directory of the source or its libs", name)
}

func within(top, name string) bool {
	if top == "." {
		return name != ".." && !(len(name) > 2 && name[:3] == "../")
	}
	return len(name) > len(top) && name[:len(top)+1] == top+"/"
}

// evaluate returns the results of the Jsonnet files of the directory, by file.
func (d *directoryPart) evaluate(ctx context.Context, files []string, trace tree.Trace) (map[string]string, *render.Problem) {
	if len(files) == 0 {
		return nil, nil
	}
	if d.opts.Isolate == nil {
		return nil, d.refused(d.field("path"), "Jsonnet is evaluated only in a separate process, which is not enabled")
	}
	var done jsonnetResult
	encoded, err := d.opts.Isolate(ctx, d.tree.Fsys, d.opts.Limits, WorkKind, d.job(files))
	if err == nil {
		err = json.Unmarshal(encoded, &done)
	}
	if err != nil {
		return nil, d.notEvaluated(err)
	}
	addTrace(trace, done.Trace)
	if len(done.Texts) < len(files) {
		return nil, jsonnetProblem(files[len(done.Texts)], done)
	}
	texts := map[string]string{}
	for i, name := range files {
		texts[name] = done.Texts[i]
	}
	return texts, nil
}

// jsonnetProblem returns the problem of a file that cannot be evaluated, at the first line in the tree that the stack
// trace of Jsonnet's error contains.
func jsonnetProblem(name string, done jsonnetResult) *render.Problem {
	message, trace, _ := strings.Cut(done.Failed, "\n")
	p := &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: name}, Message: "failed to evaluate jsonnet: " + message}
	for _, text := range []string{message, trace} {
		for _, at := range tracedLine.FindAllStringSubmatch(text, -1) {
			if _, read := done.Trace.Reads[at[1]]; !read {
				continue
			}
			p.Path = at[1]
			p.Line, _ = strconv.Atoi(at[2]) // digits
			return p
		}
	}
	return p
}

// tracedLine matches a place in an error of Jsonnet: NAME:LINE:COLUMN, or NAME:(LINE:COLUMN)-(LINE:COLUMN).
var tracedLine = regexp.MustCompile(`([^\s:]+):\(?(\d+):\d+`)

// notEvaluated converts an error of the process to a problem.
func (d *directoryPart) notEvaluated(err error) *render.Problem {
	died := new(isolate.Error)
	switch {
	case !errors.As(err, &died):
		return d.refused(d.field("path"), fmt.Sprintf("evaluating Jsonnet in a process of its own: %v", err))
	case died.At == "":
		return d.refused(d.field("path"), fmt.Sprintf("Jsonnet in %s cannot be evaluated: %s", d.dir, died.Why))
	}
	return d.refused(d.field("path"), fmt.Sprintf("%s cannot be evaluated: %s", died.At, died.Why))
}

// job returns the job that evaluates files of the directory.
func (d *directoryPart) job(files []string) *jsonnetJob {
	opts := d.options().Jsonnet
	j := &jsonnetJob{Files: files, Top: d.top, TLAs: d.expanded(opts.TLAs), ExtVars: d.expanded(opts.ExtVars)}
	for i := len(opts.Libs) - 1; i >= 0; i-- { // the last library is searched first
		j.Dirs = append(j.Dirs, path.Join(d.top, path.Clean("/" + opts.Libs[i])[1:]))
	}
	j.Dirs = append(j.Dirs, d.dir)
	return j
}

func (d *directoryPart) expanded(vars []JsonnetVar) []JsonnetVar {
	out := make([]JsonnetVar, len(vars))
	for i, v := range vars {
		out[i] = JsonnetVar{Name: v.Name, Value: d.env.expand(v.Value), Code: v.Code}
	}
	return out
}

// jsonnet returns the objects in the result of a file.
func (d *directoryPart) jsonnet(name, text string) (*made, *render.Problem) {
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		list = []json.RawMessage{json.RawMessage(text)}
	}
	out := &made{}
	for _, item := range list {
		if string(item) == "null" {
			continue
		}
		content := (&render.Object{JSON: item}).Content()
		if kind, _ := content["kind"].(string); kind == "" {
			return nil, &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: name}, Message: "what it evaluates to is no object: Object 'Kind' is missing"}
		}
		items, err := expanded(tree.Encode(content))
		if err != nil {
			return nil, &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: name}, Message: err.Error()}
		}
		for _, o := range items {
			out.objects = append(out.objects, o.Object)
		}
	}
	out.origins = func(context.Context) ([]*origin.Origin, error) {
		all := make([]*origin.Origin, len(out.objects))
		for i := range all {
			all[i] = origin.Known(origin.Places{Document: tree.Position{Path: name, Line: 1}, Why: "Jsonnet makes it"})
		}
		return all, nil
	}
	return out, nil
}

// traceJsonnet records the files that Jsonnet may import: any file of its directories, and those that the files of the
// source and the code of variables import from elsewhere.
func (d *directoryPart) traceJsonnet(files []string, trace tree.Trace) {
	j := d.job(files)
	for _, dir := range j.Dirs {
		d.tree.TraceBelow(dir, trace)
	}
	im := &importer{jsonnetJob: j, tree: d.tree, trace: trace, known: map[string]jsonnet.Contents{}}
	next := slices.Clone(files)
	follow := func(from, code string) {
		for _, name := range importsIn(code) {
			known := len(im.known)
			if _, at, err := im.Import(from, name); err == nil && len(im.known) > known {
				next = append(next, at)
			}
		}
	}
	for _, v := range slices.Concat(j.TLAs, j.ExtVars) {
		if v.Code {
			follow("", v.Value)
		}
	}
	for ; len(next) > 0; next = next[1:] {
		if data, _, err := d.tree.Load(next[0], trace); err == nil {
			follow(next[0], string(data))
		}
	}
}

// imports matches what Jsonnet imports, whose names it cannot compute, also behind comments.
var imports = regexp.MustCompile(`\bimport(?:str|bin)?(?:\s|(?://|#)[^\n]*|/\*(?s:.*?)\*/)*(@?)(?:"((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)')`)

// importsIn returns the names of the files that Jsonnet code imports.
func importsIn(code string) (names []string) {
	for _, found := range imports.FindAllStringSubmatch(code, -1) {
		name := found[2] + found[3]
		if found[1] == "" { // a text with escapes, which are those of JSON and \'
			text := []byte(`"` + strings.ReplaceAll(name, `\'`, `'`) + `"`)
			_ = json.Unmarshal(text, &name) // an invalid text fails the evaluation
		}
		names = append(names, name)
	}
	return names
}
