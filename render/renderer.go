package render

import (
	"context"
	"io/fs"
	"path"
	"sync"
	"sync/atomic"

	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Renderer renders the roots of one tree. It is safe for concurrent use.
type Renderer struct {
	tree         *tree.Tree
	opts         Options
	constructors []Constructor
	sources      []Source
	// needs are those of roots but for plain ones: needsKey -> *Needs
	needs sync.Map
	// found is what Discover found.
	found atomic.Pointer[discoverer]
	// origins are those of results that are kept: *Result -> []*origin.Origin
	origins sync.Map
	// keeping are what finds these, once for all that want them at a time: *Result -> func() ([]*origin.Origin, error)
	keeping sync.Map
	// beside is the renderer of another tree that this one was made beside.
	beside *Renderer
}

// NewRenderer makes a renderer for a tree with sources. The tree must not change.
func NewRenderer(fsys fs.FS, opts Options, sources ...Constructor) *Renderer {
	t := tree.New(fsys, opts.Limits)
	if opts.Cache != nil {
		t.TakeDecoded(decodedFiles{opts.Cache})
	}
	return rendererOf(t, opts, sources)
}

func rendererOf(t *tree.Tree, opts Options, news []Constructor) *Renderer {
	r := &Renderer{tree: t, opts: opts, constructors: news}
	for _, make := range news {
		r.sources = append(r.sources, make(t, opts))
	}
	return r
}

// source is the source of a kind of roots; nil when there is none.
func (r *Renderer) source(kind RootKind) Source {
	for _, s := range r.sources {
		if s.Kind() == kind {
			return s
		}
	}
	return nil
}

// At returns the root that the files of a directory make, whether or not
// others use it; false when there is none.
func (r *Renderer) At(dir string) (Root, bool) {
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
func (r *Renderer) DeletedBy(s *origin.Origin, root Root) []origin.Deletion {
	return s.DeletedBy(r.tree, root.Dir)
}

// Beside makes a renderer for another tree, with the same options, that shares what
// is known of files which both trees have.
func (r *Renderer) Beside(fsys fs.FS) *Renderer {
	other := rendererOf(r.tree.Beside(fsys), r.opts, r.constructors)
	other.beside = r
	return other
}

// Render renders one root. What is wrong with the root is the
// Result's Problem; once ctx is done, that is its error. A build that has begun
// runs to its end, because kustomize cannot be interrupted.
func (r *Renderer) Render(ctx context.Context, root Root) *Result {
	if err := ctx.Err(); err != nil {
		return &Result{Root: root, Trace: tree.NewTrace(), Problem: &Problem{
			Kind: ProblemFailed, Position: tree.Position{Path: root.Dir}, Message: "rendering was given up: " + err.Error()}}
	}
	do := func() *Result { return r.source(root.Kind).Render(ctx, root) }
	if r.opts.Cache != nil && !root.listed() {
		return r.cached(root, do)
	}
	return do()
}

// Origins says where each object of a result was written, in the order of its
// Objects. The result must be that of a root of this tree. It costs about one more
// render. The error is the result's problem, if it has one, or that of ctx.
func (r *Renderer) Origins(ctx context.Context, result *Result) ([]*origin.Origin, error) {
	if kept, ok := r.origins.Load(result); ok && ctx.Err() == nil {
		return kept.([]*origin.Origin), nil
	}
	return r.findOrigins(ctx, result)
}

func (r *Renderer) findOrigins(ctx context.Context, result *Result) ([]*origin.Origin, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if result.Problem != nil {
		return nil, result.Problem
	}
	return r.source(result.Root.Kind).Origins(ctx, result)
}

// KeepOrigins is Origins, and has Origins return the same for the result from then on: of roots that make units, which many
// ask for. What answers has is not found again; it may be nil. known returns the roots that others are made of. The context
// has to last as long.
func (r *Renderer) KeepOrigins(ctx context.Context, result *Result, answers *origin.Answers, known func(RootID) (Root, bool)) ([]*origin.Origin, error) {
	if kept, ok := r.origins.Load(result); ok {
		return kept.([]*origin.Origin), nil
	}
	keep, _ := r.keeping.LoadOrStore(result, sync.OnceValues(func() ([]*origin.Origin, error) {
		name := ""
		if answers != nil && result.Problem == nil {
			name = r.Identity(result.Root, result, known)
		}
		found, err := answers.Of(name, result.KubeVersion.IsRead, func() ([]*origin.Origin, error) { return r.findOrigins(ctx, result) })
		if err == nil {
			r.origins.Store(result, found)
		}
		return found, err
	}))
	return keep.(func() ([]*origin.Origin, error))()
}

// Tree returns the tree whose roots are rendered.
func (r *Renderer) Tree() *tree.Tree { return r.tree }

// Manifests returns the files that a root is made of.
func (r *Renderer) Manifests(root Root) Manifests { return r.source(root.Kind).Manifests(root) }

// Changed returns a renderer of the tree with another content of one file, without a
// cache. What is known of the files of a trace is taken along.
func (r *Renderer) Changed(path string, data []byte, known tree.Trace) *Renderer {
	opts := r.opts
	opts.Cache = nil // no other run asks for this
	return rendererOf(tree.Changed(r.tree, path, data, known), opts, r.constructors)
}

// Valid reports whether the renderer's tree would render the same as the one the
// trace is of: every file read has the same content there, every symbolic link
// passed the same target, and what was missing still is. It does not know of the
// options of a render, nor, for a plain root, of files added to its directory
// (compare Root.Files).
func (r *Renderer) Valid(trace tree.Trace) bool {
	for name, want := range trace.Reads {
		// Below a symbolic link `..` leads elsewhere.
		if dir := r.tree.Resolve(path.Dir(name)); dir.Err != nil || dir.Real != path.Dir(name) {
			return false
		}
		if got, err := r.tree.Identity(name); err != nil || got != want {
			return false
		}
	}
	for name := range trace.Misses {
		if r.tree.Resolve(name).Err == nil {
			return false
		}
	}
	return true
}

// Each renders roots on all cores, and returns what each renders to, in their order. What is
// wrong with a root is in its result; the error is that of ctx.
func Each(ctx context.Context, roots []Root, render func(context.Context, Root) *Result) ([]*Result, error) {
	results := make([]*Result, len(roots))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, root := range roots {
		group.Go(func() error {
			results[i] = render(ctx, root)
			return nil
		})
	}
	_ = group.Wait() // nothing fails
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return results, nil
}
