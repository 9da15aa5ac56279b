package change

import (
	"context"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
)

// suspended returns the results at the base of the suspended units of the head, by their objects: other units find these
// in the cluster. It returns nil if no such unit changes.
func (c *Change) suspended(ctx context.Context) map[namedIn]*render.Result {
	now := map[namedIn]bool{}
	for _, root := range c.Head.Graph.Units {
		if keepsObjects(root) {
			now[unitIn(root)] = true
		}
	}
	kept := map[namedIn]*render.Result{}
	changes := false
	for _, was := range c.Base.Graph.Units {
		if now[unitIn(was)] || keepsObjects(was) {
			_, of := c.Base.Needs(was)
			changes = changes || of == c.Base.Renderer || !now[unitIn(was)]
			kept[unitIn(was)] = nil
		}
	}
	for unit := range now {
		_, known := kept[unit]
		changes = changes || !known
	}
	if !changes {
		return nil
	}
	for _, was := range c.Base.Graph.Units {
		if _, ok := kept[unitIn(was)]; ok {
			kept[unitIn(was)] = c.Base.renderAndStore(ctx, was)
		}
	}
	return kept
}

// keepsObjects reports whether the objects of a unit stay as they are in the cluster, whatever its tree has: the unit is
// suspended.
func keepsObjects(root render.Root) bool {
	return Suspended(root) && (!root.Unit.Entry || root.Kind == render.KindArgoCD) && root.Unit.Problem == nil
}

// unitIn returns the name of a unit's object in its cluster, also for a unit that is rendered without variables.
func unitIn(root render.Root) namedIn {
	return namedIn{strings.TrimSuffix(root.Cluster, deploy.WithoutVariables), root.Object}
}

// keptBy returns the result that a suspended unit has in the cluster; ok is false for other units.
func (s *Side) keptBy(root render.Root) (r *render.Result, ok bool) {
	if s.kept == nil || !keepsObjects(root) {
		return nil, false
	}
	r = &render.Result{Root: root}
	if was := s.kept[unitIn(root)]; was != nil && was.Problem == nil {
		same := *was
		same.Root, r = root, &same
	}
	return r, true
}
