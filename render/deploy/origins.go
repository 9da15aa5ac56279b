package deploy

import (
	"context"
	"fmt"
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// origins finds where the objects were written that the units of a graph are made of. It is
// safe for concurrent use once the graph is expanded.
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

// madeOrigins returns where the object of a unit was written that is made of another one, going by where that
// is. Other objects are where they are.
func (e *expander) madeOrigins(u *render.Unit, written func(*origin.Origin) *origin.Origin) func(context.Context, render.RootID, int) (*origin.Origin, error) {
	return func(ctx context.Context, root render.RootID, index int) (*origin.Origin, error) {
		of, err := e.origins.of(ctx, root, index)
		if err != nil || root != u.Parent || index != u.Index {
			return of, err
		}
		return written(of), nil
	}
}

// all returns where the objects of a result were written, which is found out once: others ask later,
// so that it must not end with what asks first. Finding it may ask for that of other results.
func (o *origins) all(result *render.Result) ([]*origin.Origin, error) {
	return o.renderer.KeepOrigins(o.ctx, result, o.opts.Answers, o.root)
}

// root is one that was rendered.
func (o *origins) root(id render.RootID) (root render.Root, ok bool) {
	if r := o.result(id); r != nil {
		return r.Root, true
	}
	return root, false
}

// result is what a root renders to, with or without variables.
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

// later returns what finds where a field of the object that asks for a unit is written, once. A
// repository may have hundreds of units that are not rendered, of which few are reported.
func (n *node) later(field string) func() render.Position {
	u, dir := n.root.Unit, n.root.Dir
	return sync.OnceValue(func() render.Position {
		if at := u.Position(context.Background(), field); at.Path != "" {
			return at
		}
		return render.Position{Path: dir}
	})
}
