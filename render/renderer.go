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
	// needs caches the needs of all roots but plain ones: needsKey -> *Needs
	needs sync.Map
	// found is the result of Discover.
	found atomic.Pointer[discoverer]
	// origins are the origins of results that were kept: *Result -> []*origin.Origin
	origins sync.Map
	// keeping has the functions that compute these once for concurrent callers: *Result -> func() ([]*origin.Origin,
	// error)
	keeping sync.Map
	// beside is the renderer of another tree that this one reuses results of; see Beside.
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

// source returns the source of a kind of root; nil if there is none.
func (r *Renderer) source(kind RootKind) Source {
	for _, s := range r.sources {
		if s.Kind() == kind {
			return s
		}
	}
	return nil
}

// At returns the root of a directory with root files, whether or not others use it; false if there is none.
func (r *Renderer) At(dir string) (Root, bool) {
	for _, s := range r.sources {
		if root, ok := s.At(dir); ok {
			return root, true
		}
	}
	return Root{}, false
}

// Parts returns the parts of a refused root that can be rendered. A root that is not refused has no parts.
func (r *Renderer) Parts(root Root) []Root { return r.source(root.Kind).Parts(root) }

// DeletedBy returns the entries in a root that delete an object which was rendered before.
func (r *Renderer) DeletedBy(s *origin.Origin, root Root) []origin.Deletion {
	return s.DeletedBy(r.tree, root.Dir)
}

// Beside makes a renderer for another tree, with the same options, that reuses what is known about files that both
// trees have.
func (r *Renderer) Beside(fsys fs.FS) *Renderer {
	other := rendererOf(r.tree.Beside(fsys), r.opts, r.constructors)
	other.beside = r
	return other
}

// Render renders one root. An error in the root is the Result's Problem; once ctx is done, its error is. A build that
// has begun runs to its end, because kustomize cannot be interrupted.
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

// Origins returns where each object of a result was written, in the order of its Objects. The result must be that of a
// root of this tree. It costs about one more render. The error is the result's problem, if it has one, or that of ctx.
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

// KeepOrigins is like Origins, and keeps the result for later calls of both. It is for roots that define units, whose
// origins many callers need. Origins in answers, which may be nil, are not computed again. known returns the roots that
// other roots are made of. The context must last as long as the renderer.
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

// Manifests returns the files that a root consists of.
func (r *Renderer) Manifests(root Root) Manifests { return r.source(root.Kind).Manifests(root) }

// Changed returns a renderer of the tree with another content of one file, without a cache. It reuses what is known
// about the files of a trace.
func (r *Renderer) Changed(path string, data []byte, known tree.Trace) *Renderer {
	opts := r.opts
	opts.Cache = nil // no other process needs this result
	return rendererOf(tree.Changed(r.tree, path, data, known), opts, r.constructors)
}

// Valid reports whether the renderer's tree would render the same as the tree of the trace: every file read has the
// same content, every symbolic link passed has the same target, and what was missing is still missing. It does not
// compare options or, for a plain root, detect files added to its directory (compare Root.Files).
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

// Each calls a function for roots in parallel, and returns the results in order. The error is that of ctx.
func Each[T any](ctx context.Context, roots []Root, do func(context.Context, Root) T) ([]T, error) {
	results := make([]T, len(roots))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, root := range roots {
		group.Go(func() error {
			results[i] = do(ctx, root)
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return results, nil
}

// Select returns the roots for which a function returns true; it is called in parallel. The error is that of ctx.
func Select(ctx context.Context, roots []Root, is func(Root) bool) ([]Root, error) {
	selected, err := Each(ctx, roots, func(_ context.Context, root Root) bool { return is(root) })
	if err != nil {
		return nil, err
	}
	var out []Root
	for i, root := range roots {
		if selected[i] {
			out = append(out, root)
		}
	}
	return out, nil
}
