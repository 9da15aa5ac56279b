package change

import (
	"context"
	"io/fs"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/scanner/admission"
)

// Names of the two trees of a change, as Location.Tree has them.
const (
	Base = "base"
	Head = "head"
)

// Change is the two trees of a change and what was rendered of them.
type Change struct {
	// base is nil when every object of the head counts as new.
	Head, Base *Side
	// under restricts what is judged to roots at or below this directory ("" or "." for
	// all).
	under string
	// selects reports whether the configuration selects roots in a directory; nil when
	// it selects all.
	selects func(dir string) bool
	// Touched holds the roots that the change touches.
	Touched map[render.RootID]bool
	// Unclaimed are roots that no deployer applies, and that are not judged.
	Unclaimed []UnclaimedRoot
}

// Trees returns the head and, if there is one, the base.
func (c *Change) Trees() []*Side {
	if c.Base == nil {
		return []*Side{c.Head}
	}
	return []*Side{c.Head, c.Base}
}

// Selected reports whether a root is to be judged: all are, unless the configuration's
// globs or the directory the user asked about say otherwise. A unit is selected by its
// directory or by its cluster.
func (c *Change) Selected(id render.RootID) bool {
	return Names(id, func(dir string) bool { return Under(c.under, dir) }) &&
		(c.selects == nil || Names(id, c.selects))
}

// Names reports whether what chooses among roots chooses one, going by its directory or by
// that of its cluster.
func Names(id render.RootID, chooses func(dir string) bool) bool {
	return chooses(id.Dir) || id.Cluster != "" && chooses(id.Cluster)
}

// SelectedRoots are the identities of the selected roots of either tree, in order.
func (c *Change) SelectedRoots() []render.RootID {
	ids := []render.RootID{}
	for _, from := range c.Trees() {
		for _, root := range from.Found.Roots {
			if c.Selected(root.RootID) {
				ids = append(ids, from.ID(root))
			}
		}
	}
	slices.SortFunc(ids, render.RootID.Compare)
	return slices.Compact(ids)
}

func (c *Change) AnyRoot(match func(path string) bool) bool {
	return slices.ContainsFunc(c.Trees(), func(from *Side) bool {
		return slices.ContainsFunc(from.Found.Roots, func(r render.Root) bool { return Names(r.RootID, match) })
	})
}

// Gone are the roots of the base that the head does not have.
func (c *Change) Gone() []render.Root {
	if c.Base == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Base.Found.Roots), func(root render.Root) bool {
		_, ok := c.Head.Root(root.RootID)
		return ok
	})
}

// RenderedBefore reports whether a root rendered at base. One that no
// longer does must not pass, whatever the reason: a remote base would turn the gate
// off.
func (c *Change) RenderedBefore(id render.RootID) bool {
	return c.Base != nil && c.Base.Roots[id] != nil && c.Base.Roots[id].Problem == nil
}

// BaseProblem is why a root did not render at base.
func (c *Change) BaseProblem(id render.RootID) *render.Problem {
	if c.Base == nil || c.Base.Roots[id] == nil {
		return nil
	}
	return c.Base.Roots[id].Problem
}

// Sides is how a root rendered before and after the change; ok is false when there
// is nothing to judge, or no telling what the change is.
func (c *Change) Sides(root render.RootID) (base, head *Rendered, ok bool) {
	head = c.Head.Roots[root]
	if c.Base != nil {
		base = c.Base.Roots[root]
	}
	switch {
	case head == nil && base == nil: // not rendered: nothing about it changes
		return nil, nil, false
	case head != nil && head.Problem != nil, head == nil && base.Problem != nil: // a gap
		return nil, nil, false
	case base != nil && base.Problem != nil:
		return nil, head, true
	}
	return base, head, true
}

// IsChanged reports whether an object of the head is not the same at base.
func (c *Change) IsChanged(o *admission.Object) bool {
	before := c.Base.Roots[OriginOf(o).Root.RootID]
	return !slices.ContainsFunc(before.All(), func(other *admission.Object) bool { return Equal(o, other) })
}

// RefusedRoots are the selected roots of a side, all or just those the change
// touches, that were not rendered because they would need a network, a program or
// too much. Without a base the change is everything.
func (c *Change) RefusedRoots(from *Side, touched bool) []render.Root {
	var roots []render.Root
	for _, root := range from.Found.Roots {
		r := from.Roots[from.ID(root)]
		if touched && c.Base != nil && !c.Touched[from.ID(root)] {
			continue
		}
		if c.Selected(root.RootID) && r != nil && r.Problem != nil && r.Problem.Kind == render.ProblemRefused {
			roots = append(roots, root)
		}
	}
	return roots
}

// Rendered are the roots of both sides that were rendered, each once.
func (c *Change) Rendered() []*Rendered {
	var all []*Rendered
	for _, root := range c.Head.Found.Roots {
		if r := c.Head.Roots[root.RootID]; r != nil {
			all = append(all, r)
		}
	}
	for _, root := range c.Base.Found.Roots {
		if r := c.Base.Roots[c.Base.ID(root)]; r != nil && r != c.Head.Roots[r.ID] {
			all = append(all, r)
		}
	}
	return all
}

// ChangedObjects are the objects of touched roots, and of what the configuration
// names beside the roots, that are not the same in both trees, in all their versions.
func (c *Change) ChangedObjects() []*admission.Object {
	var changed []*admission.Object
	for id, touched := range c.Touched {
		if touched {
			changed = append(changed, differing(c.Base.Roots[id].All(), c.Head.Roots[id].All())...)
		}
	}
	for name, results := range c.Head.Given {
		changed = append(changed, differing(allOf(c.Base.Given[name]), allOf(results))...)
	}
	return changed
}

// Options says how the trees of a change are opened.
type Options struct {
	// Under restricts what is judged to roots at or below this directory ("" or "." for
	// all).
	Under string
	// Selects reports whether roots in a directory are looked at; nil when all are.
	Selects func(dir string) bool
	// Deploy says what is known of deployers; nil to take directories for what is deployed.
	Deploy *deploy.Options
	// JudgeUnclaimed makes roots that no deployer applies be judged as if somebody did.
	JudgeUnclaimed bool
	// Rendering and refused are as in scanner.Input.
	Rendering func(root, tree string) (done func())
	Refused   map[string]string
}

// Open discovers the roots of both trees. base is nil when every object of head
// counts as new.
func Open(ctx context.Context, base, head fs.FS, options render.Options, how Options) (*Change, error) {
	c := &Change{under: how.Under, selects: how.Selects, Touched: map[render.RootID]bool{}}
	var err error
	if c.Head, err = OpenSide(ctx, Head, head, sources.NewRenderer(head, options), how); err != nil {
		return c, err
	}
	if base != nil {
		if c.Base, err = OpenSide(ctx, Base, base, c.Head.Renderer.Beside(base), how); err != nil {
			return c, err
		}
	}
	if how.Deploy != nil {
		for _, s := range c.Trees() {
			if err := s.expand(ctx, *how.Deploy); err != nil {
				return c, err
			}
			if s == c.Head && c.Base != nil {
				c.Base.head = c.Head
			}
		}
		c.upgrade()
		c.settle(how.JudgeUnclaimed)
	}
	if c.Base != nil {
		c.Base.head = c.Head
	}
	return c, nil
}
