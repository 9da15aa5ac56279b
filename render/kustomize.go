package render

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// kustomizeSource is a Source of kustomizations.
type kustomizeSource struct {
	tree *tree
	opts Options
}

// newKustomizeSource makes a Source of the kustomizations of a tree.
func newKustomizeSource(t *tree, opts Options) SourceOf { return &kustomizeSource{t, opts} }

// Kind implements SourceOf.
func (r *kustomizeSource) Kind() RootKind { return KindKustomize }

// RootFile implements SourceOf.
func (r *kustomizeSource) RootFile(name string) bool { return isKustomizationName(name) }

// Uses implements SourceOf.
func (r *kustomizeSource) Uses(dir string, names []string) *Uses { return usesOf(r.tree, dir, names) }

// Reads implements SourceOf.
func (r *kustomizeSource) Reads(dir string) Trace { return readsOf(r.tree, dir) }

// Origins implements SourceOf.
func (r *kustomizeSource) Origins(_ context.Context, result *Result) ([]*Source, error) {
	prewarm()
	dir := result.Root.Dir
	return locate(r.tree, dir, result.Objects, func(serve serveFunc) (resmap.ResMap, error) {
		return r.run(&kustomizeFS{tree: r.tree, trace: newTrace(), serve: serve}, dir)
	})
}

// At implements SourceOf.
func (r *kustomizeSource) At(dir string) (Root, bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if to := r.tree.resolve(path.Join(dir, name)); to.err == nil && !to.isDir {
			return Root{RootID: RootID{Kind: KindKustomize, Dir: dir}}, true
		}
	}
	return Root{}, false
}

// prewarm parses kustomize's built-in OpenAPI schema, which is global to the
// process, before the first build. Builds that run at the same time race for it
// when it is not there yet (kubernetes-sigs/kustomize#5805). Plain roots do
// without its megabytes.
var prewarm = sync.OnceFunc(func() { openapi.Schema() })

// Render implements SourceOf.
func (r *kustomizeSource) Render(ctx context.Context, root Root) *Result {
	result := &Result{Root: root, Trace: newTrace()}
	c := walk(r.tree, root.Dir, result.Trace)
	if result.Problem = c.problem(); result.Problem != nil {
		traceEntries(r.tree, c, result.Trace)
		return result
	}
	if c.openapi != nil {
		return r.renderIsolated(ctx, root, *c.openapi, result.Trace)
	}
	prewarm()
	r.build(result, c)
	return result
}

// traceEntries notes the files a closure names as if they were read.
func traceEntries(t *tree, c *closure, trace Trace) {
	for _, e := range c.entries {
		if e.target != "" {
			t.traceFile(e.target, trace)
		}
	}
}

// traceFile notes a path as if what is there was read: that a directory is one decides
// as much as what a file holds.
func (t *tree) traceFile(name string, trace Trace) {
	r := t.resolve(name)
	if r.err != nil {
		trace.missed(name, r)
		return
	}
	trace.passed(r.links)
	if id, err := t.identity(r.real); err == nil {
		trace.Reads[r.real] = id
	} else {
		trace.Misses[name] = true
	}
}

// problem is what keeps kustomize from being run on the closure.
func (c *closure) problem() *Problem {
	if c.refused != nil {
		return c.refused
	}
	return c.cycle
}

// renderIsolated renders a root whose closure sets a schema, which kustomize
// keeps in variables of the process.
func (r *kustomizeSource) renderIsolated(ctx context.Context, root Root, openapi Position, trace Trace) *Result {
	if r.opts.Isolate == nil {
		return &Result{Root: root, Trace: trace, Problem: &Problem{Kind: ProblemRefused, Position: openapi,
			Message: "a kustomization with `openapi:` is only rendered in a process of its own, which was not asked for"}}
	}
	result, err := r.opts.Isolate(ctx, root, r.tree.fsys, r.opts)
	if err != nil {
		return &Result{Root: root, Trace: trace, Problem: &Problem{Kind: ProblemFailed, Position: openapi,
			Message: "rendering in a process of its own: " + err.Error()}}
	}
	return result
}

// build runs kustomize on a closure that was walked, and fills in the result.
func (r *kustomizeSource) build(result *Result, c *closure) {
	fsys := &kustomizeFS{tree: r.tree, trace: result.Trace}
	resources, err := r.run(fsys, result.Root.Dir)
	if fsys.costly != nil {
		result.Problem = fsys.costly
		return
	}
	if err == nil {
		result.Objects, err = objectsOfBuild(resources)
	}
	if list := new(listError); errors.As(err, &list) {
		result.Objects = nil
		result.Problem = &Problem{Kind: ProblemRefused, Position: Position{Path: result.Root.Dir}, Message: list.Error()}
	} else if err != nil {
		result.Objects = nil
		result.Problem = r.explain(result.Root, c, err)
	}
}

// listError says that kustomize built something that is a list to whoever applies it: they
// take everything with items for one, kustomize only what is called so.
type listError struct{ id string }

func (e *listError) Error() string {
	return e.id + " has items, so that what applies it takes it for a list of them: give them one by one"
}

// run builds a kustomization as the kustomize command does. Panics of kustomize
// become errors.
func (r *kustomizeSource) run(fsys *kustomizeFS, dir string) (resources resmap.ResMap, err error) {
	defer func() {
		if p := recover(); p != nil {
			resources, err = nil, fmt.Errorf("kustomize crashed: %v", p)
		}
	}()
	restrictions := types.LoadRestrictionsNone
	if r.opts.LoadRestrictor == LoadRestrictionsRootOnly {
		restrictions = types.LoadRestrictionsRootOnly
	}
	k := krusty.MakeKustomizer(&krusty.Options{
		Reorder:          krusty.ReorderOptionUnspecified,
		LoadRestrictions: restrictions,
		PluginConfig:     types.DisabledPluginConfig(),
	})
	return k.Run(fsys, mounted(dir))
}

// objectsOfBuild converts what kustomize built.
func objectsOfBuild(resources resmap.ResMap) ([]*Object, error) {
	out := make([]*Object, 0, resources.Size())
	for i, res := range resources.Resources() {
		content, err := content(&res.RNode)
		if err != nil {
			return nil, fmt.Errorf("convert %s to JSON: %w", res.CurId(), err)
		}
		if _, ok := content["items"].([]any); ok {
			return nil, &listError{res.CurId().String()}
		}
		out = append(out, &Object{JSON: encode(content), Index: i})
	}
	return out, nil
}

// readsOf is all that rendering a kustomization would read.
func readsOf(t *tree, dir string) Trace {
	trace := newTrace()
	traceEntries(t, walk(t, dir, trace), trace)
	return trace
}
