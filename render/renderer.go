package render

import (
	"context"
	"io/fs"
	"sync"
	"sync/atomic"

	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// Renderer renders the roots of one tree. It is safe for concurrent use.
type Renderer struct {
	tree *tree
	opts Options
	// inputs are those of kustomizations: RootID -> *Inputs
	inputs sync.Map
	// found is what Discover found.
	found atomic.Pointer[discoverer]
	// beside is the renderer of another tree that this one was made beside.
	beside *Renderer
}

// prewarm parses kustomize's built-in OpenAPI schema, which is global to the
// process, before the first build. Builds that run at the same time race for it
// when it is not there yet (kubernetes-sigs/kustomize#5805). Plain roots do
// without its megabytes.
var prewarm = sync.OnceFunc(func() { openapi.Schema() })

// NewRenderer makes a renderer for a tree. The tree must not change.
func NewRenderer(fsys fs.FS, opts Options) *Renderer {
	return &Renderer{tree: newTree(fsys, opts.Limits), opts: opts}
}

// Beside makes a renderer for another tree, with the same options, that shares what
// is known of files which both trees have.
func (r *Renderer) Beside(fsys fs.FS) *Renderer {
	t := newTree(fsys, r.opts.Limits)
	t.memo = r.tree.memo
	return &Renderer{tree: t, opts: r.opts, beside: r}
}

// Render renders one root. What is wrong with the root is told by
// Result.Problem; once ctx is done, that is its error. A build that has begun
// runs to its end, because kustomize cannot be interrupted.
func (r *Renderer) Render(ctx context.Context, root Root) *Result {
	if err := ctx.Err(); err != nil {
		return &Result{Root: root, Trace: newTrace(), Problem: &Problem{
			Kind: ProblemFailed, Position: Position{Path: root.Dir}, Message: "rendering was given up: " + err.Error()}}
	}
	if root.Kind == KindPlain {
		return r.renderPlain(root)
	}
	if r.opts.Cache != nil {
		return r.cached(root, func() *Result { return r.renderKustomize(ctx, root) })
	}
	return r.renderKustomize(ctx, root)
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
	if result.Root.Kind == KindPlain {
		return r.plainSources(result.Root)
	}
	return r.kustomizeSources(result)
}
