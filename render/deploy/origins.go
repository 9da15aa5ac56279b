package deploy

import (
	"context"
	"fmt"
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/origin"
)

// origins finds where the objects that define units were written. It is safe for concurrent use once the graph is
// expanded.
type origins struct{ *expander }

// of returns where an object that a root renders was written.
func (o *origins) of(_ context.Context, root render.RootID, index int) (*origin.Origin, error) {
	result := o.result(root)
	if result == nil {
		return nil, fmt.Errorf("%s is not rendered", root)
	}
	all, err := o.all(result)
	if err != nil {
		return nil, err
	}
	if index >= len(all) {
		return nil, fmt.Errorf("%s renders to %d objects, not to %d", root, len(all), index+1)
	}
	return all[index], nil
}

// fileOf returns the file of an object; empty if it is not known.
func (o *origins) fileOf(k objects.Held) string {
	written, err := o.of(o.ctx, k.Root, k.Object.Index)
	if err != nil || written == nil {
		return ""
	}
	return written.Place("metadata.name", origin.Whole).Path
}

// madeOrigins returns an Origins function for a unit whose object is generated from another object: written maps the
// origin of that object to the origin of the generated one. Other objects keep their origins.
func (e *expander) madeOrigins(u *render.Unit, written func(*origin.Origin) *origin.Origin) func(context.Context, render.RootID, int) (*origin.Origin, error) {
	return func(ctx context.Context, root render.RootID, index int) (*origin.Origin, error) {
		of, err := e.origins.of(ctx, root, index)
		if err != nil || root != u.Parent || index != u.Index {
			return of, err
		}
		return written(of), nil
	}
}

// all returns the origins of the objects of a result. They are computed once and with the context of the graph: a
// canceled caller must not end the computation, as later callers use its result. It may compute origins of other
// results.
func (o *origins) all(result *render.Result) ([]*origin.Origin, error) {
	return o.renderer.KeepOrigins(o.ctx, result, o.opts.Answers, o.root)
}

// root returns the rendered root with an identity.
func (o *origins) root(id render.RootID) (root render.Root, ok bool) {
	if r := o.result(id); r != nil {
		return r.Root, true
	}
	return root, false
}

// result returns the result of a root, with or without variables; nil if it was not rendered.
func (o *origins) result(id render.RootID) *render.Result {
	if r := o.results[id]; r != nil {
		return r
	}
	for n, r := range o.raw {
		if n.root.RootID == id || r.Root.RootID == id {
			return r
		}
	}
	return nil
}

// locator returns a function that finds the position of a field of the unit's object, once, when it is first called. A
// repository may have hundreds of units that are not rendered, of which few are reported.
func (n *node) locator(field string) func() render.Position {
	u, dir := n.root.Unit, n.root.Dir
	return sync.OnceValue(func() render.Position {
		if at := u.Position(context.Background(), field); at.Path != "" {
			return at
		}
		return render.Position{Path: dir}
	})
}
