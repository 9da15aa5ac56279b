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

// Names of the two trees of a change, as in Location.Tree.
const (
	Base = "base"
	Head = "head"
)

// Change holds the two trees of a change and what was rendered of them.
type Change struct {
	// Base is nil if every object of the head counts as new.
	Head, Base *Side
	// under restricts what is judged to these directories and files; empty means no restriction.
	under []string
	// users maps each root that reads some of these files to the files.
	users map[render.RootID][]string
	// applied has the roots with a unit that such a file decides: the root's own or one of its
	// parents. written maps each root with a unit whose object is written at or below some of the
	// directories to these directories.
	applied map[render.RootID]bool
	written map[render.RootID][]string
	// selects reports whether the configuration selects a root by its names; nil if it selects all.
	selects func(names ...string) bool
	// Touched has the roots that the change touches.
	Touched map[render.RootID]bool
	// Unclaimed are the roots that no deployer applies and that are not judged.
	Unclaimed []UnclaimedRoot
	// JudgedUnclaimed is the number of roots that no deployer applies and that are judged as if they
	// were applied.
	JudgedUnclaimed int
	// Named are the files that the user named and no root reads.
	Named []Named
}

// Trees returns the head and, if there is one, the base.
func (c *Change) Trees() []*Side {
	if c.Base == nil {
		return []*Side{c.Head}
	}
	return []*Side{c.Head, c.Base}
}

// Selected reports whether a root is to be judged. Every root is, unless the configuration's globs or
// the directories and files that the user named exclude it. A unit is selected by its directory or by
// its cluster.
func (c *Change) Selected(id render.RootID) bool {
	return (c.Whole(id) || len(c.users[id]) > 0) && c.Chooses(id)
}

// Chooses reports whether the configuration's globs select a root.
func (c *Change) Chooses(id render.RootID) bool {
	return c.selects == nil || c.selects(NamesOf(id)...)
}

// NamesOf returns the names that select a root: its directory and its cluster.
func NamesOf(id render.RootID) []string {
	if id.Cluster == "" {
		return []string{id.Dir}
	}
	return []string{id.Dir, id.Cluster}
}

// Whole reports whether the user selected all of a root, by its directory, its cluster, or the place
// of the object that applies it, rather than only files that it reads.
func (c *Change) Whole(id render.RootID) bool {
	return c.applied[id] || len(c.written[id]) > 0 || slices.ContainsFunc(NamesOf(id), func(dir string) bool { return UnderAny(c.under, dir) })
}

// Restricted reports whether some roots may be excluded from judging.
func (c *Change) Restricted() bool {
	return c.selects != nil || !UnderAny(c.under, ".")
}

// SelectedRoots returns the identities of the selected roots of both trees, sorted.
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

// AnyRoot reports whether a root has names that match.
func (c *Change) AnyRoot(match func(names ...string) bool) bool {
	return slices.ContainsFunc(c.Trees(), func(from *Side) bool {
		return slices.ContainsFunc(from.Found.Roots, func(r render.Root) bool { return match(NamesOf(r.RootID)...) })
	})
}

// Gone returns the roots of the base that the head does not have.
func (c *Change) Gone() []render.Root {
	if c.Base == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Base.Found.Roots), func(root render.Root) bool {
		_, ok := c.Head.Root(root.RootID)
		return ok
	})
}

// RenderedBefore reports whether a root rendered at base. A root that no longer renders must not
// pass, whatever the reason: otherwise a change could avoid its verdict with a remote base.
func (c *Change) RenderedBefore(id render.RootID) bool {
	return c.Base != nil && c.Base.Roots[id] != nil && c.Base.Roots[id].Problem == nil
}

// BaseProblem returns the reason why a root did not render at base.
func (c *Change) BaseProblem(id render.RootID) *render.Problem {
	if c.Base == nil || c.Base.Roots[id] == nil {
		return nil
	}
	return c.Base.Roots[id].Problem
}

// LacksMore reports whether a root of the head was rendered without a part that may contain objects
// of the base.
func (c *Change) LacksMore(id render.RootID) bool {
	return c.Head.Roots[id] != nil && c.Head.Roots[id].Lacks != nil && !c.Head.Roots[id].Lacks.Same(c.baseLacks(id))
}

// LackedMore reports whether a root of the base was rendered without a part that may have contained
// objects of the head.
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

// Sides returns a root as rendered before and after the change. ok is false if there is nothing to
// judge, or if the change of the root is not known.
func (c *Change) Sides(root render.RootID) (base, head *Rendered, ok bool) {
	head = c.Head.Roots[root]
	if c.Base != nil {
		base = c.Base.Roots[root]
	}
	switch {
	case head == nil && base == nil: // not rendered: the change does not affect it
		return nil, nil, false
	case head != nil && head.Problem != nil, head == nil && base.Problem != nil: // a gap
		return nil, nil, false
	case base != nil && (base.Problem != nil || head != nil && changedCluster(base.Root.Unit, head.Root.Unit)):
		return nil, head, true
	}
	return base, head, true
}

// changedCluster reports whether a unit applies to another cluster than before: it creates its objects
// there and leaves the old ones in place.
func changedCluster(before, now *render.Unit) bool {
	return before != nil && now != nil && before.Cluster != now.Cluster
}

// IsChanged reports whether the base has no equal of an object of the head.
func (c *Change) IsChanged(o *admission.Object) bool {
	return !slices.ContainsFunc(c.before(OriginOf(o).Root.RootID), func(other *admission.Object) bool { return Equal(o, other) })
}

// before returns the objects of a root at base; none for a unit that moved to another cluster.
func (c *Change) before(id render.RootID) []*admission.Object {
	base, head := c.Base.Roots[id], c.Head.Roots[id]
	if base != nil && head != nil && changedCluster(base.Root.Unit, head.Root.Unit) {
		return nil
	}
	return base.All()
}

// RefusedRoots returns the selected roots of a side that were not rendered because they need a
// network, a program or too many resources: all, or only those that the change touches. Without a
// base the change touches every root.
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

// Rendered returns the rendered roots of both sides, each once.
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

// ChangedObjects returns the objects that differ between the trees, in all their versions: those of
// touched roots and those of configured paths (policies, context). Without a base it returns the
// objects of the touched roots.
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

// Options are the options for opening the trees of a change.
type Options struct {
	// Under restricts what is judged to roots at or below these directories, and to objects written
	// in these files; empty means no restriction.
	Under []string
	// Selects reports whether roots with some names are judged; nil if all are.
	Selects func(names ...string) bool
	// Seeks reports whether a directory is a root even if other roots use it; nil if there are none.
	Seeks func(dir string) bool
	// TestData reports whether a directory in test data is selected explicitly; nil if none is.
	TestData func(dir string) bool
	// Deploy has the options for deployers; nil to treat all directories as deployed.
	Deploy *deploy.Options
	// JudgeUnclaimed judges roots that no deployer applies as if they were applied. JudgeUnsettled
	// does so if an ApplicationSet that is not evaluated may apply them.
	JudgeUnclaimed, JudgeUnsettled bool
	// Policies are the paths of policies that every cluster has according to the configuration: roots at or below
	// them are applied by hand if no deployer applies them.
	Policies []string
	// Charts are the configured charts, if the roots are directories.
	Charts []deploy.Chart
	// Rendering and Refused are as in scanner.Input.
	Rendering func(root, tree string) (done func())
	Refused   map[string]string
}

// Open discovers the roots of both trees. base is nil if every object of head counts as new.
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
		if err := c.expand(ctx, deployers); err != nil {
			return c, err
		}
		c.install()
		c.settle(how.JudgeUnclaimed || how.JudgeUnsettled && c.Unevaluated() > 0, how.Policies)
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
