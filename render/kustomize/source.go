package kustomize

import (
	"cmp"
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

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/kustomize/inflate"
	"github.com/preadmit/preadmit/render/tree"
)

// Source is the render.Source of kustomizations.
type Source struct {
	tree *tree.Tree
	opts render.Options
}

// New returns the Source of the kustomizations of a tree. They are rendered without unavailable remote
// resources: Result.Lacks lists these.
func New(t *tree.Tree, opts render.Options) render.Source { return &Source{tree: t, opts: opts} }

// walk returns a closure. It is partial unless it sets a schema.
func (r *Source) walk(dir string, trace tree.Trace) *build.Closure {
	if c := build.WalkPartial(r.tree, dir, trace); c.Openapi == nil {
		return c
	}
	return build.Walk(r.tree, dir, trace) // a process of its own renders it, never partially
}

// Kind implements Source.
func (r *Source) Kind() render.RootKind { return render.KindKustomize }

// RootFile implements Source.
func (r *Source) RootFile(name string) bool { return tree.IsKustomizationName(name) }

// Uses implements Source.
func (r *Source) Uses(dir string, names []string) *render.Uses {
	return build.UsesOf(r.tree, dir, names)
}

// Reads implements Source.
func (r *Source) Reads(dir string) tree.Trace { return build.ReadsOf(r.tree, dir) }

// At implements Source.
func (r *Source) At(dir string) (render.Root, bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if to := r.tree.Resolve(path.Join(dir, name)); to.Err == nil && !to.IsDir {
			return render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}}, true
		}
	}
	return render.Root{}, false
}

// prewarm parses kustomize's built-in OpenAPI schema, which is global to the process, before the first build.
// Concurrent builds race for it when it is missing (kubernetes-sigs/kustomize#5805). Plain roots do not need
// its megabytes.
var prewarm = sync.OnceFunc(func() { openapi.Schema() })

// Render implements Source.
func (r *Source) Render(ctx context.Context, root render.Root) *render.Result {
	result := &render.Result{Root: root, Trace: tree.NewTrace()}
	c := r.walk(root.Dir, result.Trace)
	if result.Problem = atEntry(c, r.problem(c)); result.Problem != nil {
		build.AddEntries(r.tree, c, result.Trace)
		return result
	}
	if c.Openapi != nil {
		return r.renderIsolated(ctx, root, *c.Openapi, result.Trace)
	}
	prewarm()
	charts, problem := inflate.Charts(ctx, r.tree, c, r.opts)
	if result.Problem = atEntry(c, problem); problem != nil {
		return result
	}
	r.build(result, c)
	switch {
	case len(c.Absent) > 0:
		r.lack(result, c)
	case result.Problem != nil && len(c.Unread) > 0 && c.ReadsValues():
		result.Problem = atEntry(c, c.Unread[0].Problem())
	}
	r.findUnknown(result, c, charts)
	r.unknownVersion(result, c)
	for _, chart := range charts {
		for _, why := range chart.Unchecked {
			result.Diagnostics = append(result.Diagnostics, render.Diagnostic{
				Severity: render.SeverityNote, Position: chart.Position, Message: "values were not checked against the schema of chart " + why,
			})
		}
	}
	return result
}

// OfCharts returns what the charts of a root require of the cluster.
func (r *Source) OfCharts(root render.Root) []render.Declared {
	if c := r.walk(root.Dir, tree.NewTrace()); len(c.Charts) > 0 && r.problem(c) == nil {
		return inflate.Declared(r.tree, c, r.opts)
	}
	return nil
}

// problem returns the reason why kustomize cannot run on a closure; nil if it can.
func (r *Source) problem(c *build.Closure) *render.Problem {
	p := c.Problem()
	switch {
	case p != nil || len(c.Charts) == 0:
		return p
	case r.opts.NoCharts != "":
		p := &render.Problem{Kind: render.ProblemFailed, Position: c.Charts[0].Position, Message: r.opts.NoCharts}
		if r.opts.ChartsUnsettled {
			p.Kind = render.ProblemRefused
		}
		return p
	case c.Openapi != nil:
		return &render.Problem{Kind: render.ProblemRefused, Position: c.Charts[0].Position, Message: "charts are not inflated beside `openapi:`, which takes a process of its own"}
	}
	return nil
}

// findUnknown marks the fields that depend on unknown values, in charts and in files of generators: it builds
// with other values and compares.
func (r *Source) findUnknown(result *render.Result, c *build.Closure, charts []*inflate.Chart) {
	reason := cmp.Or(c.Vary(), inflate.Vary(charts))
	if reason == "" || result.Problem != nil {
		return
	}
	resources, err := r.run(&build.FileSystem{Tree: r.tree, Trace: tree.NewTrace(), Closure: c}, result.Root.Dir)
	var others []*render.Object
	if err == nil {
		others, err = build.Objects(resources)
	}
	for i, o := range result.Objects {
		if err != nil || len(others) != len(result.Objects) {
			o.Unknown = append(o.Unknown, render.Unknown{Path: []string{}, Reason: reason})
			continue
		}
		o.Unknown = append(o.Unknown, render.Differences(o.Content(), others[i].Content(), reason)...)
	}
}

// renderIsolated renders a root whose closure sets a schema, which kustomize
// keeps in variables of the process.
func (r *Source) renderIsolated(ctx context.Context, root render.Root, openapi tree.Position, trace tree.Trace) *render.Result {
	if r.opts.Isolate == nil {
		return &render.Result{Root: root, Trace: trace, Problem: &render.Problem{Kind: render.ProblemRefused, Position: openapi,
			Message: "a kustomization with `openapi:` is rendered only in a separate process, which is not enabled"}}
	}
	result, err := r.isolated(ctx, root)
	if err != nil {
		return &render.Result{Root: root, Trace: trace, Problem: &render.Problem{Kind: render.ProblemFailed, Position: openapi,
			Message: "rendering in a process of its own: " + err.Error()}}
	}
	return result
}

// build runs kustomize on a closure and fills in the result.
func (r *Source) build(result *render.Result, c *build.Closure) {
	if r.takeBuilt(result, c) || r.buildBase(result, c) {
		return
	}
	fsys := &build.FileSystem{Tree: r.tree, Trace: result.Trace, Closure: c}
	objects, err := r.objects(fsys, result.Root.Dir)
	if result.Objects = objects; fsys.Costly != nil {
		result.Objects = nil
		result.Problem = atEntry(c, fsys.Costly)
		return
	}
	if list := new(build.ListError); errors.As(err, &list) {
		result.Objects = nil
		result.Problem = &render.Problem{Kind: render.ProblemRefused, Position: tree.Position{Path: result.Root.Dir}, Message: list.Error()}
	} else if err != nil {
		result.Objects = nil
		result.Problem = atEntry(c, r.explain(result.Root, c, err))
	}
	r.keepBuilt(result, c)
}

// run builds a kustomization as the kustomize command does, with stubs of absent objects that it refers to.
// Panics of kustomize become errors.
func (r *Source) run(fsys *build.FileSystem, dir string) (resmap.ResMap, error) {
	for {
		resources, err := r.runOnce(fsys, dir)
		if err == nil {
			return resources, cmp.Or(r.versioned(resources, fsys.Closure, dir), fsys.Closure.RemoveStubs(resources))
		}
		id, ok := missing(err)
		if !ok || !fsys.Closure.AddStub(id) {
			return nil, err
		}
		if base := fsys.Closure.Base(err); base != "" {
			if err := r.addStubs(fsys, base); err != nil {
				return nil, err
			}
		}
	}
}

// addStubs adds the stubs that a base of a closure lacks. It builds the base alone, which is faster than the
// whole and lacks the same objects. The error is that a stub has no place.
func (r *Source) addStubs(fsys *build.FileSystem, base string) error {
	for {
		_, err := r.runOnce(fsys, base)
		if err == nil {
			return nil
		}
		id, ok := missing(err)
		if !ok {
			return nil // the build of the whole reports the error
		}
		if !fsys.Closure.AddStub(id) {
			return err
		}
	}
}

// runOnce builds a kustomization with the present stubs.
func (r *Source) runOnce(fsys *build.FileSystem, dir string) (resources resmap.ResMap, err error) {
	defer func() {
		if p := recover(); p != nil {
			resources, err = nil, fmt.Errorf("kustomize crashed: %v", p)
		}
	}()
	defer note(fsys.Closure)()
	restrictions := types.LoadRestrictionsNone
	if r.opts.LoadRestrictor == render.LoadRestrictionsRootOnly {
		restrictions = types.LoadRestrictionsRootOnly
	}
	k := krusty.MakeKustomizer(&krusty.Options{
		Reorder:          krusty.ReorderOptionUnspecified,
		LoadRestrictions: restrictions,
		PluginConfig:     types.DisabledPluginConfig(),
	})
	return k.Run(fsys, build.Mounted(dir))
}
