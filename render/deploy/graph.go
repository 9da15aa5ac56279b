package deploy

import (
	"slices"

	"github.com/preadmit/preadmit/render"
)

// Graph is what is deployed of a tree.
type Graph struct {
	// Units are roots that objects in a cluster ask for, all with a Unit, in the order of
	// their identities. Suspended ones, and those that cannot be rendered (Unit.Problem), are
	// among them. None, and no ApplicationSet that DeploysNothing, means that the repository has no deployer that is
	// known.
	Units []render.Root
	// Charts are the charts of the repository that are configured, or that nothing is known to use, in
	// the order of their identities. They have a Unit each, and say nothing about deployers.
	Charts []render.Root
	// Claims are the units that apply the files of a root that discovery found, or some of
	// them, by that root. Judging such a root by itself would judge the same objects again, not
	// as they are applied.
	Claims map[render.RootID][]render.RootID
	// Bootstrap are the discovered roots that hold the object of an entry point and that no
	// unit applies, by the clusters of those entry points: somebody applies them by hand, as
	// they are.
	Bootstrap map[render.RootID][]string
	// Unevaluated are the ApplicationSets that were not evaluated and whose Applications may be of
	// this tree: they may apply any directory.
	Unevaluated []render.RootID
	// Sets are the ApplicationSets that were evaluated.
	Sets []Set
	// Gaps are what may be deployed beside the units and cannot be told, with the unit whose
	// objects ask for it: a HelmRelease, a ResourceSet, an object of a deployer that
	// is not valid.
	Gaps []render.Gap
	// Diagnostics are remarks on what was assumed, such as which entry points there are.
	Diagnostics []render.Diagnostic
	// Results are what was rendered to find the units. Some were rendered without variables, as roots of their own.
	Results map[render.RootID]*render.Result
}

// Set is an ApplicationSet that was evaluated.
type Set struct {
	Cluster string
	Object  render.ObjectRef
	// Parent is the root that renders it; zero when the repository does not hold it.
	Parent render.RootID
	// Keeps is set when it never deletes an Application that it no longer generates.
	Keeps bool
	// Empty is set when it generates no Application, Own when those that it generates have this repository as a
	// source.
	Empty, Own bool
}

// Set returns the ApplicationSet with a name in a cluster, if it was evaluated.
func (g *Graph) Set(cluster string, object render.ObjectRef) (Set, bool) {
	if g == nil {
		return Set{}, false
	}
	if i := slices.IndexFunc(g.Sets, func(s Set) bool { return s.Cluster == cluster && s.Object == object }); i >= 0 {
		return g.Sets[i], true
	}
	return Set{}, false
}

// DeploysNothing reports whether an ApplicationSet would have this repository applied, and is known to generate no
// Application.
func (g *Graph) DeploysNothing() bool {
	return slices.ContainsFunc(g.Sets, func(s Set) bool { return s.Empty && s.Own })
}

// Unclaimed reports whether a discovered root is applied by nothing that is known, in a
// tree that has deployers.
func (g *Graph) Unclaimed(id render.RootID) bool {
	return (len(g.Units) > 0 || g.DeploysNothing()) && len(g.Claims[id]) == 0 && len(g.Bootstrap[id]) == 0
}
