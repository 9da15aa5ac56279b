package argocd

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gobwas/glob"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// originsOf returns the origins of objects.
type originsOf func(ctx context.Context) ([]*origin.Origin, error)

// kindless is Argo CD's message for a document without a kind.
const kindless = "failed to unmarshal: Object 'Kind' is missing"

// skipMarker is the text that makes Argo CD skip a file.
const skipMarker = "+argocd:skip-file-rendering"

// directoryPart is a directory of manifests.
type directoryPart struct{ *part }

func (d *directoryPart) options() Directory {
	if d.source.Directory == nil {
		return Directory{}
	}
	return *d.source.Directory
}

// files returns the manifests of the directory, in the order in which Argo CD reads them.
func (d *directoryPart) files(trace tree.Trace) ([]string, *render.Problem) {
	opts := d.options()
	include, err := compile(opts.Include)
	if err != nil {
		return nil, d.failed(d.field("directory.include"), err)
	}
	exclude, err := compile(opts.Exclude)
	if err != nil {
		return nil, d.failed(d.field("directory.exclude"), err)
	}
	top := d.tree.RealOr(d.dir)
	d.tree.AddListing(top, trace)
	var found []string
	err = fs.WalkDir(d.tree.Fsys, top, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != top && (!opts.Recurse || entry.Name() == ".git"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case !opts.DisableExtensionFilter && !isManifest(entry.Name()):
			return nil
		}
		if to := d.tree.Resolve(name); to.Err != nil || to.IsDir {
			d.tree.TraceFile(name, trace)
			return nil
		}
		relative := strings.TrimPrefix(strings.TrimPrefix(name, top), "/")
		if exclude != nil && exclude.Match(relative) || include != nil && !include.Match(relative) {
			return nil
		}
		found = append(found, name)
		return nil
	})
	if err != nil {
		return nil, d.failed(d.field("path"), err)
	}
	slices.SortFunc(found, compareWalked)
	return found, nil
}

// compareWalked orders paths as a directory walk does.
func compareWalked(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// compile compiles a pattern, in which `*` matches slashes as well; nil for an empty pattern.
func compile(pattern string) (glob.Glob, error) {
	if pattern == "" {
		return nil, nil
	}
	return glob.Compile(pattern)
}

func isManifest(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json", ".jsonnet":
		return true
	}
	return false
}

func (d *directoryPart) needs() *render.Needs {
	in := &render.Needs{Trace: tree.NewTrace(), Composition: render.Composition{Generated: map[string]bool{}}}
	files, problem := d.files(in.Trace)
	if in.Problem = problem; problem != nil {
		return in
	}
	for _, name := range files {
		d.tree.TraceFile(name, in.Trace)
	}
	if found := d.jsonnetOf(files, in.Trace); len(found) > 0 {
		in.Free = true
		d.traceJsonnet(found, in.Trace)
	}
	return in
}

func (d *directoryPart) manifests() render.Manifests {
	files, _ := d.files(tree.NewTrace())
	return render.Manifests{Files: slices.DeleteFunc(files, func(name string) bool { return path.Ext(name) == ".jsonnet" })}
}

func (d *directoryPart) make(ctx context.Context, trace tree.Trace) (*made, *render.Problem) {
	files, problem := d.files(trace)
	if problem != nil {
		return nil, problem
	}
	texts, problem := d.evaluate(ctx, d.jsonnetOf(files, trace), trace)
	if problem != nil {
		return nil, problem
	}
	out := &made{}
	var froms []originsOf
	for _, name := range files {
		m, problem := d.file(ctx, name, texts, trace)
		if problem != nil {
			return nil, problem
		}
		if m == nil {
			continue
		}
		out.objects = append(out.objects, m.objects...)
		out.diagnostics = append(out.diagnostics, m.diagnostics...)
		froms = append(froms, m.origins)
	}
	out.origins = joined(froms)
	return out, nil
}

// jsonnetOf returns the Jsonnet files that are not skipped.
func (d *directoryPart) jsonnetOf(files []string, trace tree.Trace) []string {
	var found []string
	for _, name := range files {
		if path.Ext(name) != ".jsonnet" {
			continue
		}
		if data, _, err := d.tree.Load(name, trace); err == nil && !bytes.Contains(data, []byte(skipMarker)) {
			found = append(found, name)
		}
	}
	return found
}

// joined concatenates the origins of several groups of objects.
func joined(all []originsOf) originsOf {
	return func(ctx context.Context) ([]*origin.Origin, error) {
		var out []*origin.Origin
		for _, of := range all {
			more, err := of(ctx)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		return out, nil
	}
}

// file reads one file; it returns nil for a skipped one.
func (d *directoryPart) file(ctx context.Context, name string, texts map[string]string, trace tree.Trace) (*made, *render.Problem) {
	data, real, err := d.tree.Load(name, trace)
	if err != nil {
		return nil, render.Unreadable(name, err)
	}
	switch {
	case bytes.Contains(data, []byte(skipMarker)):
		return nil, nil
	case path.Ext(name) == ".jsonnet":
		return d.jsonnet(name, texts[name])
	case tree.IsPointer(data):
		return nil, &render.Problem{Kind: render.ProblemRefused, Position: tree.Position{Path: name}, Message: tree.Elsewhere(data)}
	}
	f := d.tree.DecodeManifest(real, data).LastOfRepeated() // like splitYAML of gitops-engine
	problem, ignored := broken(name, f, data)
	if problem != nil {
		return nil, problem
	}
	problem, configuration := others(name, f, data)
	switch {
	case ignored && configuration == nil && (problem == nil || problem.Message == kindless):
		return nil, nil
	case problem != nil:
		return nil, problem
	}
	root := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: d.dir}, Files: []string{name}}
	result := d.plain.Render(ctx, root)
	if result.Problem != nil {
		return nil, result.Problem
	}
	return &made{objects: result.Objects, diagnostics: configuration, origins: func(ctx context.Context) ([]*origin.Origin, error) {
		return d.plain.Origins(ctx, result)
	}}, nil
}

// broken returns the problem of a file. A file that contains no object, and does not look like a manifest, is ignored.
func broken(name string, f *tree.ManifestFile, data []byte) (problem *render.Problem, ignored bool) {
	isJSON := path.Ext(name) == ".json"
	objects := 0
	var bad *tree.SyntaxError
	for _, doc := range f.Documents {
		switch {
		case doc.Bad != nil && bad == nil:
			bad = doc.Bad
		case doc.Bad == nil:
			objects += len(doc.Objects)
		}
	}
	if f.Bad != nil {
		bad = f.Bad
	}
	switch {
	case bad == nil && isJSON && objects != 1 && len(f.Documents) > 1:
		return &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: name, Line: 1}, Message: "multiple objects in a JSON file: Argo CD allows one"}, false
	case bad == nil:
		return nil, objects == 0 && !isJSON && !looksLikeManifest(data)
	case objects == 0 && !isJSON && !looksLikeManifest(data):
		return nil, true
	}
	return &render.Problem{Kind: render.ProblemFailed, Position: bad.Position, Message: fmt.Sprintf("failed to unmarshal: %s", bad.Message)}, false
}

// others checks the documents of a file that are not objects of a cluster and that Argo CD does not ignore. It returns
// the reason why Argo CD applies nothing, and warnings for documents that configure kustomize.
func others(name string, f *tree.ManifestFile, data []byte) (problem *render.Problem, configuration []render.Diagnostic) {
	documents, _ := tree.SplitDocuments(name, data) // it was already split without errors
	failed := func(line int, message string) *render.Problem {
		return &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: name, Line: line}, Message: message}
	}
	if len(documents) == 0 && path.Ext(name) == ".json" {
		return failed(1, kindless), nil
	}
	for i, document := range documents {
		line := document.Line + 1
		if i < len(f.Documents) && len(f.Documents[i].Objects) > 0 && len(f.Documents[i].Objects[0].Items) == 0 {
			continue // an object
		}
		var content any
		if err := yaml.Unmarshal(document.Text, &content); err != nil || content == nil {
			continue
		}
		fields, _ := content.(map[string]any)
		kind, _ := fields["kind"].(string)
		apiVersion, _ := fields["apiVersion"].(string)
		group, _, _ := strings.Cut(apiVersion, "/")
		_, isList, err := elementsOf(fields)
		switch {
		case kind == "":
			return failed(line, kindless), configuration
		case err != nil:
			return failed(line, err.Error()), configuration
		case isList:
		case group == "kustomize.config.k8s.io":
			configuration = append(configuration, render.Diagnostic{
				Severity: render.SeverityWarning, Position: tree.Position{Path: name, Line: line},
				Message: fmt.Sprintf("Argo CD applies this %s as an object, and as no cluster has that kind a sync fails: `directory.exclude` leaves it out", kind),
			})
		case apiVersion == "":
			return failed(line, fmt.Sprintf("the %s has no apiVersion: no cluster has that kind, and a sync fails", kind)), configuration
		}
	}
	return nil, configuration
}

func looksLikeManifest(data []byte) bool {
	return bytes.Contains(data, []byte("apiVersion:")) && bytes.Contains(data, []byte("kind:")) && bytes.Contains(data, []byte("metadata:"))
}
