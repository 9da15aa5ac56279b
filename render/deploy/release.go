package deploy

import (
	"cmp"
	"slices"

	"github.com/preadmit/preadmit/render"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// releaseKind is the kind of objects that have a chart installed, resourceSetKind that of objects
// that have something deployed which is not rendered.
var (
	releaseKind     = schema.GroupKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}
	resourceSetKind = schema.GroupKind{Group: "fluxcd.controlplane.io", Kind: "ResourceSet"}
)

// Unrendered is an object that has something deployed which is not rendered.
type Unrendered struct {
	Object  render.ObjectRef
	Cluster string
	// Parent renders the object.
	Parent render.RootID
	Why    string
}

// Unrendered returns the objects among what was rendered that have something deployed which is
// not: all of them in a graph that was expanded with Everything, ordered by their clusters
// and names.
func (g *Graph) Unrendered() []Unrendered {
	var found []Unrendered
	for _, root := range g.Units {
		r := g.Results[root.RootID]
		for _, kind := range []struct {
			schema.GroupKind
			why string
		}{
			{resourceSetKind, "what it makes is not rendered"},
		} {
			for _, o := range holds(r, kind.GroupKind) {
				found = append(found, Unrendered{o.ref(), root.Unit.Cluster, root.RootID, kind.why})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Unrendered) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Object.String(), b.Object.String()))
	})
	return found
}
