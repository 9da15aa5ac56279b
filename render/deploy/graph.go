package deploy

import (
	"slices"

	"github.com/preadmit/preadmit/render"
)

// Graph is the deployment of a tree: its units, and what applies the other roots.
type Graph struct {
	// Units are the roots that objects in a cluster define, in the order of their identities. Each has a Unit.
	// Suspended units, and units that cannot be rendered (Unit.Problem), are included. If there are no Units and
	// DeploysNothing is false, the repository has no known deployer.
	Units []render.Root
	// Charts are the charts of the repository that are configured, or that nothing is known to use, in the order of
	// their identities. Each has a Unit. They do not imply a deployer.
	Charts []render.Root
	// Claims maps a discovered root to the units that apply some or all of its files. Judging such a root by itself
	// would judge the same objects twice, and not in the form in which they are applied.
	Claims map[render.RootID][]render.RootID
	// Bootstrap maps a discovered root that holds the object of an entry point, and that no unit applies, to the
	// clusters of its entry points: somebody applies the root by hand, as it is.
	Bootstrap map[render.RootID][]string
	// Unevaluated are the ApplicationSets that could not be evaluated and whose Applications may use this tree: they
	// may apply any directory.
	Unevaluated []render.RootID
	// Sets are the ApplicationSets that were evaluated.
	Sets []Set
	// Gaps are what may be deployed beside the units and is not known: for example, an object that several units apply
	// with different contents. Each has the unit that it concerns.
	Gaps []render.Gap
	// Diagnostics are remarks on assumptions, for example on which entry points there are.
	Diagnostics []render.Diagnostic
	// Results are the results of rendering while the units were found. Some roots were rendered without variables, with
	// an identity of their own.
	Results map[render.RootID]*render.Result
}

// WithoutVariables is what ends the cluster of a root that is a unit without its variables.
const WithoutVariables = " without variables"

// Set is an ApplicationSet that was evaluated.
type Set struct {
	Cluster string
	Object  render.ObjectRef
	// Parent is the root that renders the object; zero if the repository does not contain it.
	Parent render.RootID
	// Keeps is set if the controller never deletes an Application that the ApplicationSet no longer generates.
	Keeps bool
	// Empty is set if it generates no Application, Own if generated Applications have this repository as a source.
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

// DeploysNothing reports whether an ApplicationSet has this repository as a source and is known to generate no
// Application.
func (g *Graph) DeploysNothing() bool {
	return slices.ContainsFunc(g.Sets, func(s Set) bool { return s.Empty && s.Own })
}

// Unclaimed reports whether nothing known applies a discovered root, in a tree with deployers.
func (g *Graph) Unclaimed(id render.RootID) bool {
	return (len(g.Units) > 0 || g.DeploysNothing()) && len(g.Claims[id]) == 0 && len(g.Bootstrap[id]) == 0
}
