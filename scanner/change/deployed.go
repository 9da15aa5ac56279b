package change

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/deploy/paths"
)

// expand finds the units of both trees.
func (c *Change) expand(ctx context.Context, how deploy.Options) error {
	if c.Base == nil {
		return c.Head.expand(ctx, how)
	}
	queries := &stateQueries{}
	first := how
	first.Before = queries
	if err := c.Head.expand(ctx, first); err != nil {
		return err
	}
	c.Base.head = c.Head
	if err := c.Base.expand(ctx, how); err != nil {
		return err
	}
	c.Head.kept = c.suspended(ctx)
	if how.Before = c.answer(ctx, queries); how.Before == nil && c.Head.kept == nil {
		return ctx.Err()
	}
	rendered := c.Head.Graph.Results
	if err := c.Head.expand(ctx, how); err != nil {
		return err
	}
	for id, r := range rendered {
		if c.Head.Graph.Results[id] == nil {
			c.Head.Graph.Results[id] = r
		}
	}
	return nil
}

// expand finds the units of a tree. Roots that are the same in both trees are rendered once.
func (s *Side) expand(ctx context.Context, how deploy.Options) error {
	s.discovered = slices.Clone(s.Found.Roots)
	how.Render, how.Needs = s.renderAhead, s.Needs
	if given := how.Entries; len(given) > 0 {
		how.Entries = slices.DeleteFunc(slices.Clone(given), func(dir string) bool { return !s.Has(dir) })
		if s.Graph = (&deploy.Graph{}); len(how.Entries) == 0 {
			return nil
		}
	}
	graph, err := deploy.Expand(ctx, s.Renderer, s.Found, how)
	if entry := new(paths.EntryError); errors.As(err, &entry) {
		return &InputError{What: "entries of the configuration", Err: entry}
	}
	if err != nil {
		return fmt.Errorf("find what is deployed of %s: %w", s.Name, err)
	}
	s.Graph = graph
	return nil
}

// renderAhead renders roots to find the units in them.
func (s *Side) renderAhead(ctx context.Context, roots []render.Root) ([]*render.Result, error) {
	results, err := render.Each(ctx, roots, s.resultOf)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", s.Name, err)
	}
	return results, nil
}

// resultOf renders a root, unless it was already rendered to find units, or in the other tree.
func (s *Side) resultOf(ctx context.Context, root render.Root) *render.Result {
	if s.Refuses(root) {
		return s.refusal(root)
	}
	if r, ok := s.keptBy(root); ok {
		return r
	}
	if r := s.ahead(root); r != nil {
		return r
	}
	if in, of := s.Needs(root); of != s.Renderer {
		if r := s.head.ahead(root); r != nil && in.Cover(r) {
			return r
		}
	}
	defer s.Begin(root.Dir)()
	return s.Renderer.Render(ctx, root)
}

// ahead returns the result of a root that was rendered to find units, or nil.
func (s *Side) ahead(root render.Root) *render.Result {
	if s.Graph == nil {
		return nil
	}
	if r := s.Graph.Results[root.RootID]; r != nil && r.Root.Same(root) {
		return r
	}
	return nil
}

// Expanded returns the result of a root when its units were found; nil if it was not rendered then.
func (s *Side) Expanded(id render.RootID) *render.Result {
	if s.Graph == nil {
		return nil
	}
	return s.Graph.Results[id]
}

// Needs returns what a root needs, and its renderer: that of the head if the root is the same in both trees.
func (s *Side) Needs(root render.Root) (*render.Needs, *render.Renderer) {
	if now, ok := s.head.known(root.RootID); ok && now.Same(root) {
		if in := s.head.Renderer.Needs(now); s.Renderer.Unchanged(in) {
			return in, s.head.Renderer
		}
	}
	return s.Renderer.Needs(root), s.Renderer
}

// known returns a root of a side, deployed or not. s may be nil.
func (s *Side) known(id render.RootID) (render.Root, bool) {
	switch {
	case s == nil:
		return render.Root{}, false
	case id.Object == (render.ObjectRef{}):
		return s.discoveredAt(id)
	case s.Graph == nil:
		return render.Root{}, false
	}
	for _, roots := range [][]render.Root{s.Graph.Units, s.Graph.Charts} {
		if i, ok := slices.BinarySearchFunc(roots, id, func(r render.Root, id render.RootID) int { return r.ComparePlace(id) }); ok {
			return roots[i], true
		}
	}
	if r := s.Graph.Results[id]; r != nil { // rendered without variables
		return r.Root, true
	}
	return render.Root{}, false
}

// HasDeployers reports whether one of the trees has deployers that apply a part of it. Units whose source is
// another repository do not count, nor do charts that nothing installs.
func (c *Change) HasDeployers() bool {
	return slices.ContainsFunc(c.Trees(), func(s *Side) bool { return s.hasDeployers() })
}

func (s *Side) hasDeployers() bool {
	return s.Graph != nil && (s.Graph.DeploysNothing() || slices.ContainsFunc(s.Graph.Units, func(u render.Root) bool {
		return u.Unit.Problem == nil && !u.Unit.IsElsewhere() && (u.Unit.Release == nil || !u.Unit.Release.Own)
	}))
}

// ClustersOf returns the clusters that a root is deployed to: those of the head or, for a root that is gone, those
// of the base. It returns one empty name if they are not known.
func (c *Change) ClustersOf(id render.RootID) []string {
	return c.clustersIn(id, c.Trees())
}

// ClustersOn returns the clusters of a root on one side, or on the other side if the root is only there. A unit may
// have moved to another cluster.
func (c *Change) ClustersOn(s *Side, id render.RootID) []string {
	return c.clustersIn(id, append([]*Side{s}, c.Trees()...))
}

func (c *Change) clustersIn(id render.RootID, sides []*Side) []string {
	if !c.HasDeployers() {
		return []string{""}
	}
	for _, s := range sides {
		root, ok := s.Root(id)
		switch {
		case !ok:
		case root.Unit != nil:
			return []string{root.Unit.Cluster}
		case s.Graph != nil && len(s.Graph.Bootstrap[root.RootID]) > 0:
			return s.Graph.Bootstrap[root.RootID]
		}
	}
	return []string{""}
}

// Clusters returns the clusters of all roots, sorted.
func (c *Change) Clusters() []string {
	var all []string
	for _, s := range c.Trees() {
		for _, root := range s.Found.Roots {
			all = append(all, c.ClustersOf(root.RootID)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Unevaluated returns the number of ApplicationSets that were not evaluated and may apply any directory, in the
// tree with the most of them.
func (c *Change) Unevaluated() int {
	most := 0
	for _, s := range c.Trees() {
		if s.Graph != nil {
			most = max(most, len(s.Graph.Unevaluated))
		}
	}
	return most
}

// settle sets the roots of both trees to those that are deployed: units and the roots that are applied by hand to
// start them. Without deployers it keeps all discovered roots. Roots that no unit applies become Unclaimed, unless
// they are to be judged, or are at or below the paths of policies.
func (c *Change) settle(judgeUnclaimed bool, policies []string) {
	if c.HasDeployers() {
		c.dropUndeployed(judgeUnclaimed, policies)
	}
	for _, s := range c.Trees() {
		s.Graph.Charts = slices.DeleteFunc(slices.Clone(s.Graph.Charts), func(r render.Root) bool {
			return c.HasDeployers() && !judgeUnclaimed && !r.Unit.Release.Configured
		})
		s.Found.Gaps = slices.DeleteFunc(slices.Clone(s.Found.Gaps), func(g render.Gap) bool { return g.Kind == render.GapChart && s.chartUsed(g.Path) })
		s.Found.Roots = slices.Concat(s.Found.Roots, s.Graph.Units, s.Graph.Charts)
		slices.SortFunc(s.Found.Roots, func(a, b render.Root) int { return a.Compare(b.RootID) })
	}
}

// addCharts adds the charts of the tree to its roots, if deployers are not taken into account.
func (s *Side) addCharts(ctx context.Context, configured []deploy.Chart) {
	found := *s.Found
	charts := deploy.Charts(ctx, s.Renderer, s.Found, deploy.Options{Charts: configured})
	found.Roots = append(slices.Clone(found.Roots), charts...)
	slices.SortFunc(found.Roots, func(a, b render.Root) int { return a.Compare(b.RootID) })
	found.Gaps = slices.DeleteFunc(slices.Clone(found.Gaps), func(g render.Gap) bool {
		return g.Kind == render.GapChart && slices.ContainsFunc(charts, func(root render.Root) bool { return root.Dir == g.Path })
	})
	s.Found = &found
}

func (c *Change) dropUndeployed(judgeUnclaimed bool, policies []string) {
	drop := map[render.RootID]bool{}
	for i, s := range c.Trees() {
		for _, root := range s.discovered {
			if i > 0 {
				if _, ok := c.Head.discoveredAt(root.RootID); ok {
					continue // the head decides
				}
			}
			switch s.claim(root.RootID) {
			case claimed:
			case unclaimed:
				if slices.ContainsFunc(policies, func(dir string) bool { return Under(dir, root.Dir) }) {
					continue
				}
				if judgeUnclaimed {
					c.JudgedUnclaimed++
					continue
				}
				c.Unclaimed = append(c.Unclaimed, UnclaimedRoot{s, root})
			default:
				continue
			}
			drop[place(root.RootID)] = true
		}
	}
	for _, s := range c.Trees() {
		s.Found.Roots = slices.DeleteFunc(slices.Clone(s.Found.Roots), func(r render.Root) bool { return drop[place(r.RootID)] })
	}
}

// chartUsed reports whether a unit, or a chart that is judged by itself, is made of the chart in a directory.
func (s *Side) chartUsed(dir string) bool {
	return slices.ContainsFunc(s.Graph.Charts, func(root render.Root) bool { return root.Dir == dir }) || s.UnitsRead(path.Join(dir, "Chart.yaml"))
}

// IsUnit reports whether a unit represents an object in a cluster: a HelmRelease or a ResourceSet its own, a
// ResourceSetInputProvider one that takes its inputs.
func (c *Change) IsUnit(cluster string, object render.ObjectRef) bool {
	return slices.ContainsFunc(c.Trees(), func(s *Side) bool {
		return s.Graph != nil && slices.ContainsFunc(s.Graph.Units, func(root render.Root) bool {
			if root.Cluster != cluster {
				return false
			}
			return root.Object == object || slices.ContainsFunc(root.Unit.Inputs, func(in render.Input) bool { return in.Provider == object })
		})
	})
}

// place returns the identity of a discovered root without its kind.
func place(id render.RootID) render.RootID { return render.RootID{Dir: id.Dir} }

func (s *Side) discoveredAt(id render.RootID) (render.Root, bool) {
	i, ok := slices.BinarySearchFunc(s.discovered, id, func(r render.Root, id render.RootID) int { return r.ComparePlace(id) })
	if !ok {
		return render.Root{}, false
	}
	return s.discovered[i], true
}

// claim is who applies a discovered root: units apply the files of a claimed root, a byHand root is applied
// directly, and nothing applies an unclaimed root.
type claim int

const (
	byHand claim = iota
	claimed
	unclaimed
)

func (s *Side) claim(id render.RootID) claim {
	switch {
	case !s.hasDeployers():
		return byHand
	case len(s.Graph.Claims[id]) > 0:
		return claimed
	case s.Graph.Unclaimed(id):
		return unclaimed
	}
	return byHand
}

// UnclaimedRoot is a discovered root that no deployer applies.
type UnclaimedRoot struct {
	Side *Side
	render.Root
}

// TouchesUnclaimed reports whether the change, which has a base, touches a root that no deployer applies.
func (c *Change) TouchesUnclaimed(u UnclaimedRoot) bool {
	if u.Side == c.Base {
		return true
	}
	before, ok := c.Base.discoveredAt(u.RootID)
	return !ok || !before.Same(u.Root) || !c.Base.Renderer.Unchanged(c.Head.Renderer.Needs(u.Root))
}

// UnitsRead reports whether a unit, or a chart that is judged by itself, reads a file, or a file directly in a
// directory.
func (s *Side) UnitsRead(name string) bool {
	if s.read == nil {
		s.read = map[string]bool{}
		if s.Graph == nil {
			return false
		}
		for _, root := range slices.Concat(s.Graph.Units, s.Graph.Charts) {
			if root.Unit.Problem != nil {
				continue
			}
			in, _ := s.Needs(root)
			for file := range in.Trace.Reads {
				s.read[file], s.read[path.Dir(file)] = true, true
			}
		}
	}
	return s.read[name]
}

// OthersRead reports whether a unit reads a file, or a chart that is judged by itself and is in another directory.
func (s *Side) OthersRead(dir, file string) bool {
	return s.Graph != nil && slices.ContainsFunc(slices.Concat(s.Graph.Units, s.Graph.Charts), func(root render.Root) bool {
		if root.Dir == dir || root.Unit.Problem != nil {
			return false
		}
		in, _ := s.Needs(root)
		_, reads := in.Trace.Reads[file]
		return reads
	})
}

// UnitPosition returns the position of a unit's object.
func (s *Side) UnitPosition(root render.Root) render.Position {
	if root.Unit.Parent == (render.RootID{}) {
		return render.Position{Path: root.Dir}
	}
	return root.Unit.Position(context.Background(), "")
}

// IsArgo reports whether the objects that an Argo CD object deploys to a cluster are judged, or reported, as units.
// It is true for Applications that are units and for ApplicationSets that are not evaluated; other ApplicationSets
// have the units they generate.
func (c *Change) IsArgo(cluster string, object render.ObjectRef) bool {
	same := func(ref render.ObjectRef) bool {
		return ref.Group == object.Group && ref.Kind == object.Kind && ref.Name == object.Name
	}
	return slices.ContainsFunc(c.Trees(), func(s *Side) bool {
		if s.Graph == nil {
			return false
		}
		return slices.ContainsFunc(s.Graph.Units, func(root render.Root) bool {
			return root.Kind == render.KindArgoCD && root.Cluster == cluster && same(root.Object)
		}) || slices.ContainsFunc(s.Graph.Sets, func(set deploy.Set) bool { return set.Cluster == cluster && same(set.Object) })
	})
}
