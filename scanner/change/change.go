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
	// under restricts what is judged to these directories and files; none for all.
	under []string
	// users are the roots that read some of these files, and which.
	users map[render.RootID][]string
	// applied are those of users whose units such a file decides. written are the roots whose units
	// are written at or below some of the directories, and which.
	applied map[render.RootID]bool
	written map[render.RootID][]string
	// selects reports whether the configuration selects what has some names; nil when it
	// selects all.
	selects func(names ...string) bool
	// Touched holds the roots that the change touches.
	Touched map[render.RootID]bool
	// Unclaimed are roots that no deployer applies, and that are not judged.
	Unclaimed []UnclaimedRoot
	// JudgedUnclaimed counts those that are judged, as if somebody applied them as they are.
	JudgedUnclaimed int
	// Named are the files that the user asked about and no root reads.
	Named []Named
}

// Trees returns the head and, if there is one, the base.
func (c *Change) Trees() []*Side {
	if c.Base == nil {
		return []*Side{c.Head}
	}
	return []*Side{c.Head, c.Base}
}

// Selected reports whether a root is to be judged: all are, unless the configuration's
// globs or the directories and files the user asked about say otherwise. A unit is selected
// by its directory or by its cluster.
func (c *Change) Selected(id render.RootID) bool {
	return (c.Whole(id) || len(c.users[id]) > 0) && c.Chooses(id)
}

// Chooses reports whether the configuration's globs choose a root.
func (c *Change) Chooses(id render.RootID) bool {
	return c.selects == nil || c.selects(NamesOf(id)...)
}

// NamesOf are the names of a root for what chooses among roots: its directory, and that of
// its cluster.
func NamesOf(id render.RootID) []string {
	if id.Cluster == "" {
		return []string{id.Dir}
	}
	return []string{id.Dir, id.Cluster}
}

// Whole reports whether the user asked about all of a root, by its directory, that of its
// cluster, or where the object that has it applied is written, rather than about files that it reads.
func (c *Change) Whole(id render.RootID) bool {
	return c.applied[id] || len(c.written[id]) > 0 || slices.ContainsFunc(NamesOf(id), func(dir string) bool { return UnderAny(c.under, dir) })
}

// Restricted reports whether there may be roots that are not to be judged.
func (c *Change) Restricted() bool {
	return c.selects != nil || !UnderAny(c.under, ".")
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

// AnyRoot reports whether there is a root with names that match.
func (c *Change) AnyRoot(match func(names ...string) bool) bool {
	return slices.ContainsFunc(c.Trees(), func(from *Side) bool {
		return slices.ContainsFunc(from.Found.Roots, func(r render.Root) bool { return match(NamesOf(r.RootID)...) })
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

// LacksMore reports whether a root of the head was rendered without something, of which it is
// not known whether it has what the root had at base.
func (c *Change) LacksMore(id render.RootID) bool {
	return c.Head.Roots[id] != nil && c.Head.Roots[id].Lacks != nil && !c.Head.Roots[id].Lacks.Same(c.baseLacks(id))
}

// LackedMore reports whether a root of the base was rendered without something, of which it is
// not known whether it had what the root has at head.
func (c *Change) LackedMore(id render.RootID) bool {
	lacked := c.baseLacks(id)
	return lacked != nil && (c.Head.Roots[id] == nil || !lacked.Same(c.Head.Roots[id].Lacks))
}

func (c *Change) baseLacks(id render.RootID) *render.Lack {
	if c.Base == nil || c.Base.Roots[id] == nil {
		return nil
	}
	return c.Base.Roots[id].Lacks
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
	case base != nil && (base.Problem != nil || head != nil && isTurned(base.Root.Unit, head.Root.Unit)):
		return nil, head, true
	}
	return base, head, true
}

// isTurned reports whether a unit applies to another cluster than before: it makes its objects
// there, and leaves those that it made.
func isTurned(before, now *render.Unit) bool {
	return before != nil && now != nil && before.Cluster != now.Cluster
}

// IsChanged reports whether an object of the head is not the same at base.
func (c *Change) IsChanged(o *admission.Object) bool {
	return !slices.ContainsFunc(c.before(OriginOf(o).Root.RootID), func(other *admission.Object) bool { return Equal(o, other) })
}

// before are the objects of a root at base, none of a unit that is turned to another cluster.
func (c *Change) before(id render.RootID) []*admission.Object {
	base, head := c.Base.Roots[id], c.Head.Roots[id]
	if base != nil && head != nil && isTurned(base.Root.Unit, head.Root.Unit) {
		return nil
	}
	return base.All()
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
	if c.Base == nil {
		return all
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
// Without a base they are the objects of the touched roots.
func (c *Change) ChangedObjects() []*admission.Object {
	if c.Base == nil {
		return c.touchedObjects()
	}
	var changed []*admission.Object
	for id, touched := range c.Touched {
		if touched {
			changed = append(changed, differing(c.before(id), c.Head.Roots[id].All())...)
		}
	}
	for name, results := range c.Head.Given {
		changed = append(changed, differing(allOf(c.Base.Given[name]), allOf(results))...)
	}
	return changed
}

func (c *Change) touchedObjects() []*admission.Object {
	var objects []*admission.Object
	for _, root := range c.Head.Found.Roots {
		if c.Touched[root.RootID] {
			objects = append(objects, c.Head.Roots[root.RootID].All()...)
		}
	}
	return objects
}

// Options says how the trees of a change are opened.
type Options struct {
	// Under restricts what is judged to roots at or below these directories, and to what is
	// written in these files; none for all.
	Under []string
	// Selects reports whether roots with some names are judged; nil when all are.
	Selects func(names ...string) bool
	// Seeks reports whether a directory is wanted, also where nothing uses it; nil when none is.
	Seeks func(dir string) bool
	// TestData reports whether somebody names a directory in test data; nil when nobody does.
	TestData func(dir string) bool
	// Deploy says what is known of deployers; nil to take directories for what is deployed.
	Deploy *deploy.Options
	// JudgeUnclaimed makes roots that no deployer applies be judged as if somebody did;
	// JudgeUnsettled does so where an ApplicationSet that is not evaluated may apply them.
	JudgeUnclaimed, JudgeUnsettled bool
	// Charts are those that are configured, for roots that are directories.
	Charts []deploy.Chart
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
		deployers := *how.Deploy
		deployers.Upgrade = base != nil
		for _, s := range c.Trees() {
			if err := s.expand(ctx, deployers); err != nil {
				return c, err
			}
			if s == c.Head && c.Base != nil {
				c.Base.head = c.Head
			}
		}
		c.install()
		c.settle(how.JudgeUnclaimed || how.JudgeUnsettled && c.Unevaluated() > 0)
	}
	for _, s := range c.Trees() {
		if how.Deploy == nil {
			s.addCharts(ctx, how.Charts)
		}
	}
	if c.Base != nil {
		c.Base.head = c.Head
	}
	c.findNamed(ctx)
	c.findWritten(ctx)
	return c, nil
}
