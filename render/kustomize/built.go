package kustomize

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// builtKey is the key of a built kustomization in the tree's cache: its directory and the version of
// kustomize.
type builtKey struct{ dir, kustomizeVersion string }

func (r *Source) builtKey(dir string) builtKey { return builtKey{dir, r.opts.KustomizeVersion} }

// built is the result of building a kustomization, kept because a deployer may build a root's kustomization
// again.
type built struct {
	objects []*render.Object
	trace   tree.Trace
	// strict is set when it builds to the same with kustomize's load restrictor.
	strict bool
}

// takeBuilt fills in the result of a kustomization that was built before.
func (r *Source) takeBuilt(result *render.Result, c *build.Closure) bool {
	kept, ok := r.tree.Made().Load(r.builtKey(result.Root.Dir))
	if !ok || !isKept(c) {
		return false
	}
	return r.take(result, kept.(*built))
}

func (r *Source) take(result *render.Result, b *built) bool {
	if !b.strict && r.opts.LoadRestrictor == render.LoadRestrictionsRootOnly {
		return false
	}
	for _, o := range b.objects {
		same := *o
		result.Objects = append(result.Objects, &same)
	}
	maps.Copy(result.Trace.Reads, b.trace.Reads)
	maps.Copy(result.Trace.Misses, b.trace.Misses)
	return true
}

// keepBuilt keeps the result of a kustomization.
func (r *Source) keepBuilt(result *render.Result, c *build.Closure) {
	if result.Problem != nil || !isKept(c) {
		return
	}
	b := &built{
		trace:  tree.Trace{Reads: maps.Clone(result.Trace.Reads), Misses: maps.Clone(result.Trace.Misses)},
		strict: r.opts.LoadRestrictor == render.LoadRestrictionsRootOnly || !slices.ContainsFunc(c.Entries, r.leadsOut),
	}
	for _, o := range result.Objects {
		same := *o
		b.objects = append(b.objects, &same)
	}
	r.tree.Made().Store(r.builtKey(result.Root.Dir), b)
}

// buildBase builds the base of a kustomization that only names one directory: kustomize builds the same from
// both. Many clusters have such kustomizations, of one base.
func (r *Source) buildBase(result *render.Result, c *build.Closure) bool {
	base, ok := r.onlyBase(result.Root.Dir, c)
	if !ok || !isKept(c) {
		return false
	}
	of := &render.Result{Root: render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: base}}, Trace: tree.NewTrace()}
	inner := r.walk(base, of.Trace)
	if inner.Openapi != nil || r.problem(inner) != nil || setsMetadata(inner, base) {
		return false
	}
	if r.build(of, inner); of.Problem != nil {
		return false // reported for the whole
	}
	return r.take(result, &built{objects: of.Objects, trace: of.Trace, strict: true})
}

// setsMetadata reports whether the kustomization of a directory sets buildMetadata, which kustomize ignores in
// a base.
func setsMetadata(c *build.Closure, dir string) bool {
	return slices.ContainsFunc(c.Files, func(k *build.Kustomization) bool {
		return k.Dir == dir && k.Err == nil && len(k.Spec.BuildMetadata) > 0
	})
}

// onlyBase returns the directory that a kustomization names, if it contains nothing else.
func (r *Source) onlyBase(dir string, c *build.Closure) (string, bool) {
	for _, k := range c.Files {
		if k.Dir != dir || k.Err != nil {
			continue
		}
		spec := k.Spec
		names := append(slices.Clone(spec.Resources), spec.Bases...) //nolint:staticcheck // people use it
		spec.TypeMeta, spec.Resources, spec.Bases = types.TypeMeta{}, nil, nil
		if len(names) != 1 || !reflect.DeepEqual(spec, types.Kustomization{}) {
			return "", false
		}
		to := r.tree.Resolve(path.Join(dir, names[0]))
		return to.Real, to.Err == nil && to.IsDir
	}
	return "", false
}

// isKept reports whether the result of building a closure depends on its files alone.
func isKept(c *build.Closure) bool { return len(c.Charts)+len(c.Absent)+len(c.Unread) == 0 }

// leadsOut reports whether an entry names a file outside of its kustomization's directory, which kustomize
// refuses by default.
func (r *Source) leadsOut(e build.Entry) bool {
	if e.Target == "" {
		return false
	}
	to, from := r.tree.Resolve(e.Target), r.tree.RealOr(path.Clean(e.From.Dir))
	return to.Err != nil || !to.IsDir && from != "." && !strings.HasPrefix(to.Real, from+"/")
}
