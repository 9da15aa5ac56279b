package render

import (
	"context"
	"io/fs"
	"sync"
	"sync/atomic"
)

// Renderer renders the roots of one tree. It is safe for concurrent use.
type Renderer struct {
	tree    *tree
	opts    Options
	news    []NewSource
	sources []SourceOf
	// inputs are those of kustomizations: RootID -> *Inputs
	inputs sync.Map
	// found is what Discover found.
	found atomic.Pointer[discoverer]
	// beside is the renderer of another tree that this one was made beside.
	beside *Renderer
}

// newRenderer makes a renderer for a tree with sources. The tree must not change.
func newRenderer(fsys fs.FS, opts Options, sources ...NewSource) *Renderer {
	return rendererOf(newTree(fsys, opts.Limits), opts, sources)
}

func rendererOf(t *tree, opts Options, news []NewSource) *Renderer {
	r := &Renderer{tree: t, opts: opts, news: news}
	for _, make := range news {
		r.sources = append(r.sources, make(t, opts))
	}
	return r
}

// source is the source of a kind of roots; nil when there is none.
func (r *Renderer) source(kind RootKind) SourceOf {
	for _, s := range r.sources {
		if s.Kind() == kind {
			return s
		}
	}
	return nil
}

// Kustomization returns the root that the files of a directory make, whether or not
// others use it; false when there is none.
func (r *Renderer) Kustomization(dir string) (Root, bool) {
	for _, s := range r.sources {
		if root, ok := s.At(dir); ok {
			return root, true
		}
	}
	return Root{}, false
}

// Parts returns what can be rendered of a root that is refused. A root that is not
// refused has no parts.
func (r *Renderer) Parts(root Root) []Root { return r.source(root.Kind).Parts(root) }

// DeletedBy returns what in a root takes an object away that was rendered before.
func (r *Renderer) DeletedBy(s *Source, root Root) []Deletion { return s.DeletedBy(r.tree, root.Dir) }

// Beside makes a renderer for another tree, with the same options, that shares what
// is known of files which both trees have.
func (r *Renderer) Beside(fsys fs.FS) *Renderer {
	other := rendererOf(r.tree.beside(fsys), r.opts, r.news)
	other.beside = r
	return other
}

// Render renders one root. What is wrong with the root is told by
// Result.Problem; once ctx is done, that is its error. A build that has begun
// runs to its end, because kustomize cannot be interrupted.
func (r *Renderer) Render(ctx context.Context, root Root) *Result {
	if err := ctx.Err(); err != nil {
		return &Result{Root: root, Trace: newTrace(), Problem: &Problem{
			Kind: ProblemFailed, Position: Position{Path: root.Dir}, Message: "rendering was given up: " + err.Error()}}
	}
	do := func() *Result { return r.source(root.Kind).Render(ctx, root) }
	if r.opts.Cache != nil && !root.listed() {
		return r.cached(root, do)
	}
	return do()
}

// Sources says where each object of a result was written, in the order of its
// Objects. The result must be that of a root of this tree. It costs about one more
// render. The error is the result's problem, if it has one, or that of ctx.
func (r *Renderer) Sources(ctx context.Context, result *Result) ([]*Source, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if result.Problem != nil {
		return nil, result.Problem
	}
	return r.source(result.Root.Kind).Origins(ctx, result)
}

// Tree returns the tree whose roots are rendered.
func (r *Renderer) Tree() *tree { return r.tree }

// Manifests returns the files that a root is made of.
func (r *Renderer) Manifests(root Root) Manifests { return r.source(root.Kind).Manifests(root) }

// Changed returns a renderer of the tree with another content of one file, without a
// cache. What is known of the files of a trace is taken along.
func (r *Renderer) Changed(path string, data []byte, known Trace) *Renderer {
	opts := r.opts
	opts.Cache = nil // no other run asks for this
	return rendererOf(changedTree(r.tree, path, data, known), opts, r.news)
}
