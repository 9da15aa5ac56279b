package kustomize

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"sigs.k8s.io/kustomize/api/resmap"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/kustomize/inflate"
	"github.com/preadmit/preadmit/render/kustomize/rules"
	"github.com/preadmit/preadmit/render/kustomize/schemas"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// objects returns the objects that kustomize builds. It leaves out schemas during the build if that makes no
// difference.
func (r *Source) objects(fsys *build.FileSystem, dir string) ([]*render.Object, error) {
	without := schemas.Of(r.tree, fsys.Closure).Build(nil)
	fsys.Serve = without.Serve
	objects, err := objectsOf(r.run(fsys, dir))
	if err == nil {
		_, err = without.Restore(objects)
	}
	if err == nil || fsys.Costly != nil || !without.LeftOut() {
		return objects, err
	}
	fsys.Serve = nil
	return objectsOf(r.run(fsys, dir))
}

func objectsOf(resources resmap.ResMap, err error) ([]*render.Object, error) {
	if err != nil {
		return nil, err
	}
	return build.Objects(resources)
}

// Origins implements Source.
func (r *Source) Origins(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
	prewarm()
	c := r.walk(result.Root.Dir, tree.NewTrace())
	charts, problem := inflate.Charts(ctx, r.tree, c, r.opts)
	if problem != nil {
		return nil, problem
	}
	origins, err := r.locate(result, c)
	inflated := inflate.OriginsOf(ctx, charts)
	for i, o := range origins {
		origins[i] = inflated.Of(o)
	}
	return atEntries(c, origins), err
}

// locate returns the origins of objects, found in a build without schemas. Fields of schemas that it cannot
// locate are found in a build of the whole files.
func (r *Source) locate(result *render.Result, c *build.Closure) ([]*origin.Origin, error) {
	files := schemas.Of(r.tree, c)
	var without *schemas.Build
	var with []schemas.Restored
	same := false
	origins, err := rules.Locate(r.tree, result.Root.Dir, c, result.Objects, rules.Build{
		Run: func(serve build.ServeFunc) (resmap.ResMap, error) {
			without = files.Build(serve)
			return r.located(c, result.Root.Dir, without.Serve)
		},
		Same: func(resources resmap.ResMap) bool {
			objects, err := build.Objects(resources)
			if err == nil {
				with, err = without.Restore(objects)
			}
			same = err == nil && slices.EqualFunc(objects, result.Objects, haveSameText)
			return same
		},
	})
	whole := sync.OnceValues(func() ([]*origin.Origin, error) { return r.locateInWhole(result, c) })
	switch {
	case without == nil || !without.LeftOut():
		return origins, err
	case err != nil || !same:
		return whole()
	}
	for _, o := range with {
		found := origins[o.Index]
		origins[o.Index] = without.Origin(o, found, func() *origin.Origin {
			if all, err := whole(); err == nil {
				return all[o.Index]
			}
			return found
		})
	}
	return origins, nil
}

// locateInWhole returns the origins of objects, found in a build of the whole files.
func (r *Source) locateInWhole(result *render.Result, c *build.Closure) ([]*origin.Origin, error) {
	return rules.Locate(r.tree, result.Root.Dir, c, result.Objects, rules.Build{
		Run: func(serve build.ServeFunc) (resmap.ResMap, error) { return r.located(c, result.Root.Dir, serve) },
		Same: func(resources resmap.ResMap) bool {
			objects, err := build.Objects(resources)
			return err == nil && slices.EqualFunc(objects, result.Objects, haveSameText)
		},
	})
}

// located builds a root for finding where its objects are written.
func (r *Source) located(c *build.Closure, dir string, serve build.ServeFunc) (resmap.ResMap, error) {
	return r.run(&build.FileSystem{Tree: r.tree, Trace: tree.NewTrace(), Closure: c, Serve: serve}, dir)
}

func haveSameText(a, b *render.Object) bool { return bytes.Equal(a.JSON, b.JSON) }
