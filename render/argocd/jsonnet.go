package argocd

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"github.com/google/go-jsonnet"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// maxStack bounds how deep Jsonnet may call.
const maxStack = 500

// importer imports files of the tree: beside the file that imports, in the directory of the source,
// and in its libraries.
type importer struct {
	d     *directoryPart
	dirs  []string
	trace tree.Trace
	known map[string]jsonnet.Contents
}

// Import implements jsonnet.Importer.
func (im *importer) Import(from, name string) (jsonnet.Contents, string, error) {
	if path.IsAbs(name) {
		return jsonnet.Contents{}, "", fmt.Errorf("couldn't open import %q: it leads out of the repository", name)
	}
	for _, dir := range append([]string{path.Dir(from)}, im.dirs...) {
		at := path.Join(dir, name)
		if !within(im.d.top, at) {
			continue
		}
		if known, ok := im.known[at]; ok {
			return known, at, nil
		}
		im.d.tree.TraceFile(at, im.trace)
		to := im.d.tree.Resolve(at)
		if to.Err != nil || to.IsDir {
			continue
		}
		data, _, err := im.d.tree.Load(at, im.trace)
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

// jsonnet evaluates a file.
func (d *directoryPart) jsonnet(name string, data []byte, trace tree.Trace) (*made, *render.Problem) {
	opts := d.options().Jsonnet
	vm := jsonnet.MakeVM()
	vm.MaxStack = maxStack
	for _, v := range opts.TLAs {
		if value := d.env.expand(v.Value); v.Code {
			vm.TLACode(v.Name, value)
		} else {
			vm.TLAVar(v.Name, value)
		}
	}
	for _, v := range opts.ExtVars {
		if value := d.env.expand(v.Value); v.Code {
			vm.ExtCode(v.Name, value)
		} else {
			vm.ExtVar(v.Name, value)
		}
	}
	im := &importer{d: d, trace: trace, known: map[string]jsonnet.Contents{}}
	for i := len(opts.Libs) - 1; i >= 0; i-- { // the last library is searched first
		im.dirs = append(im.dirs, path.Join(d.top, path.Clean("/" + opts.Libs[i])[1:]))
	}
	im.dirs = append(im.dirs, d.dir)
	vm.Importer(im)
	text, err := vm.EvaluateAnonymousSnippet(name, string(data))
	if err != nil {
		return nil, &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: name}, Message: fmt.Sprintf("failed to evaluate jsonnet: %v", err)}
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		list = []json.RawMessage{json.RawMessage(text)}
	}
	out := &made{}
	for _, item := range list {
		content := (&render.Object{JSON: item}).Content()
		if kind, _ := content["kind"].(string); kind == "" {
			return nil, &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: name}, Message: "what it evaluates to is no object: Object 'Kind' is missing"}
		}
		out.objects = append(out.objects, expanded(tree.Encode(content))...)
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

// traceJsonnet notes what Jsonnet may import: any file of its directories.
func (d *directoryPart) traceJsonnet(trace tree.Trace) {
	traceBelow(d.tree, d.dir, trace)
	for _, lib := range d.options().Jsonnet.Libs {
		traceBelow(d.tree, path.Join(d.top, path.Clean("/" + lib)[1:]), trace)
	}
}
