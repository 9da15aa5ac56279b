package plain

import (
	"context"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// placed is an object of a plain root with its place.
type placed struct {
	tree.Item
	file     string
	document int // its index in the file
}

// Source is a Source for directories of manifests.
type Source struct {
	tree *tree.Tree
	// last is set if the last of repeated keys counts; otherwise they fail the root.
	last bool
}

// New returns a Source for the directories of manifests of a tree.
func New(t *tree.Tree, _ render.Options) render.Source { return &Source{tree: t} }

// LastOfRepeated returns a Source in which the last of repeated keys counts, as in Argo CD.
func LastOfRepeated(t *tree.Tree) render.Source { return &Source{tree: t, last: true} }

// Kind implements Source.
func (r *Source) Kind() render.RootKind { return render.KindPlain }

// RootFile implements Source. A directory of manifests is a root if nothing else makes it one.
func (r *Source) RootFile(string) bool { return false }

// Uses implements Source.
func (r *Source) Uses(string, []string) *render.Uses { return nil }

// Reads implements Source.
func (r *Source) Reads(string) tree.Trace { return tree.NewTrace() }

// At implements Source.
func (r *Source) At(string) (render.Root, bool) { return render.Root{}, false }

// Parts implements Source. A broken file fails the whole root.
func (r *Source) Parts(render.Root) []render.Root { return nil }

// Needs implements Source.
func (r *Source) Needs(root render.Root) *render.Needs {
	in := &render.Needs{Trace: tree.NewTrace()}
	for _, name := range root.Files {
		r.tree.TraceFile(name, in.Trace)
	}
	return in
}

// Manifests implements Source.
func (r *Source) Manifests(root render.Root) render.Manifests {
	return render.Manifests{Files: root.Files}
}

// Render implements Source. One broken document fails the root, so that no object goes missing unnoticed.
func (r *Source) Render(_ context.Context, root render.Root) *render.Result {
	result := &render.Result{Root: root, Trace: tree.NewTrace()}
	found, problem := r.manifests(root, result.Trace)
	if problem != nil {
		result.Problem = problem
		return result
	}
	for i, p := range found {
		result.Objects = append(result.Objects, render.NewObject(p.Json, i))
	}
	return result
}

func (r *Source) manifests(root render.Root, trace tree.Trace) ([]placed, *render.Problem) {
	var out []placed
	for _, name := range root.Files {
		found, problem := r.readManifest(name, trace)
		if problem != nil {
			return nil, problem
		}
		out = append(out, found...)
	}
	return out, nil
}

// readManifest reads one manifest file.
func (r *Source) readManifest(name string, trace tree.Trace) ([]placed, *render.Problem) {
	data, real, err := r.tree.Load(name, trace)
	if err != nil {
		return nil, render.Unreadable(name, err)
	}
	f := r.tree.DecodeManifest(real, data)
	if r.last {
		f = f.LastOfRepeated()
	}
	if problem := render.ManifestProblem(f); problem != nil {
		return nil, problem
	}
	var out []placed
	for i, doc := range f.Documents {
		for _, l := range doc.Objects {
			out = append(out, placed{l, real, i})
		}
	}
	return out, nil
}
