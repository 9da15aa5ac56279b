package change

import (
	"context"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
)

// suspended returns what the suspended units of the head have from the base, by their objects: that is what others find in
// their place. It is nil where no such unit changes.
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

// keepsObjects reports whether a unit keeps what it has, whatever the tree says: it is suspended by what applies it.
func keepsObjects(root render.Root) bool {
	return Suspended(root) && (!root.Unit.Entry || root.Kind == render.KindArgoCD) && root.Unit.Problem == nil
}

// unitIn is the name of a unit's object in its cluster, also of a unit that is rendered without variables.
func unitIn(root render.Root) namedIn {
	return namedIn{strings.TrimSuffix(root.Cluster, deploy.WithoutVariables), root.Object}
}

// keptBy is what a suspended unit has instead of what the tree says; ok is false for another one.
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
