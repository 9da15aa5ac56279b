package deploy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/origin"
)

// maxSteps is how often an entry point may apply itself with another content each time.
const maxSteps = 5

// equals reports whether the object of a unit equals another one in all fields that affect the unit.
func (n *node) equals(k objects.Held) bool {
	u := *n.root.Unit
	u.Object = k.Object.JSON
	return n.root.Unit.Same(&u)
}

// adoptRendered replaces the object of an entry point that applies its own object with the rendered one, which is in
// effect from then on and has its variables substituted. It reports whether the entry point must be resolved and
// rendered again.
func (e *expander) adoptRendered(n *node) bool {
	result, u := e.results[n.root.RootID], n.root.Unit
	if n.parent != nil || n.object == nil || u.Cluster != n.cluster.name || u.Apply.Suspended || result.Problem != nil {
		return false
	}
	k, ok := e.indexOf(result)[n.root.Object]
	if !ok && n.steps > 0 {
		e.notJudged(n, "spec", fmt.Sprintf("%s applies itself with a content by which it does so no longer: whether it stays is not known", n.root.Object))
	}
	if !ok || flux.Excluded(k.Object.JSON) != "" {
		return false
	}
	switch {
	case n.equals(k) && maps.Equal(n.unknown, flux.UnknownVariables(k.Object)) && !slices.ContainsFunc(k.Object.Unknown, func(u render.Unknown) bool { return flux.Decides(u.Path) }):
		return false
	case n.made:
		e.notJudged(n, "spec", fmt.Sprintf("%s is made by a FluxInstance and, with another content, applies itself: which is in effect depends on when they are applied", n.root.Object))
		return false
	case n.steps == maxSteps:
		n.fail(render.ProblemRefused, "spec", fmt.Sprintf("%s applies itself with another content each time: what is in effect depends on how often it was applied", n.root.Object))
		return false
	}
	before, index, object := *n, k.Object.Index, *k.Object
	object.Index = u.Index
	e.specify(n, objects.Held{Header: k.Header, Object: &object, Root: u.Parent, Written: func(of *origin.Origin) *origin.Origin {
		if all, err := e.origins.all(result); err == nil && index < len(all) {
			return all[index]
		}
		return of
	}})
	if n.object != nil && n.object.SourceRef().Kind != artifactKind {
		if _, ok := e.known(n.cluster, n.object.SourceRef()); !ok {
			e.addSelf(n.cluster, n.object.SourceRef())
		}
	}
	if n.root.Unit.Problem != nil {
		e.claim(&before)
	}
	delete(e.results, result.Root.RootID)
	delete(e.raw, n)
	for _, units := range e.searched {
		delete(units, n)
	}
	n.steps++
	n.plain, n.resolved, n.expanded = nil, n.root.Unit.Problem != nil, false
	return true
}
