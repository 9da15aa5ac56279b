package deploy

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/flux"
)

// addChild adds the unit that an object rendered by another unit defines.
func (e *expander) addChild(parent *node, k objects.Held) {
	e.add(&node{cluster: e.clusterOf(parent.root.Unit.Cluster), parent: parent, depth: parent.depth + 1}, k)
}

// add adds the unit that an object defines, unless its cluster already has it.
func (e *expander) add(n *node, k objects.Held) {
	key := unitKey{n.cluster.name, k.Ref()}
	if known := e.units[key]; known != nil {
		e.checkRepeated(known, n, k)
		return
	}
	e.units[key] = n
	e.nodes = append(e.nodes, n)
	n.root.RootID = render.RootID{Kind: render.KindFlux, Dir: k.Root.Dir, Object: k.Ref(), Cluster: n.cluster.name}
	e.specify(n, k)
	switch {
	case n.root.Unit.Problem != nil:
	case n.repeats() > maxRepeats:
		n.fail(render.ProblemRefused, "spec.path", fmt.Sprintf("cycle of Kustomizations: those that apply %s apply it again under another name, without end", n.root.Dir))
	case n.depth > maxDepth:
		n.fail(render.ProblemRefused, "", fmt.Sprintf("the Kustomization is applied by %d others, one by the other: they may make each other without end", maxDepth))
	case len(e.nodes) > maxUnits:
		n.fail(render.ProblemRefused, "", fmt.Sprintf("there are more than %d Kustomizations", maxUnits))
	}
}

// specify sets the fields of a unit from its object.
func (e *expander) specify(n *node, k objects.Held) {
	u := &render.Unit{
		Object: k.Object.JSON, Parent: k.Root, Index: k.Object.Index, Entry: n.parent == nil, Cluster: n.cluster.name,
		Checkout: render.Checkout{Top: "."}, Strict: e.opts.Strict,
	}
	u.Origins = e.origins.of
	if k.Written != nil {
		u.Origins = e.madeOrigins(u, k.Written)
	}
	n.root.Unit = u
	var err error
	n.object, err = flux.Parse(u.Object)
	if err != nil {
		n.fail(render.ProblemFailed, "spec", err.Error())
		return
	}
	n.unknown = flux.UnknownVariables(k.Object)
	e.remarkFields(n)
	u.Apply = n.object.Apply()
	u.Cluster = n.object.Spec.KubeConfig.Cluster(n.cluster.name, n.object.Metadata.Namespace)
	n.root.Dir = e.dirOf(n.object)
	for _, unknown := range k.Object.Unknown {
		if flux.Decides(unknown.Path) {
			n.fail(render.ProblemRefused, "spec", fmt.Sprintf("the field %s of the Kustomization is not known: %s", unknown.Field(), unknown.Reason))
			return
		}
	}
}

// repeats returns how many ancestors of a unit apply the same directory under other names.
func (n *node) repeats() int {
	count := 0
	for above := n.parent; above != nil; above = above.parent {
		if above.root.Dir == n.root.Dir && !above.root.Unit.IsElsewhere() {
			count++
		}
	}
	return count
}

// checkRepeated checks an object that defines a unit which was already added.
func (e *expander) checkRepeated(known, n *node, k objects.Held) {
	if known.parent == n.parent || known.equals(k) || known.parent == nil && known == n.parent { // the last condition is handled in adoptRendered
		return
	}
	e.appliedDifferently(known, n, k)
}

// appliedDifferently adds a gap for the object of a unit that several units apply with different contents.
func (e *expander) appliedDifferently(known, n *node, k objects.Held) {
	e.ambiguous(known.root.RootID, known.root.Object, known.parent, n.parent, k)
}

// ambiguous adds a gap for an object that one unit applies and that another unit applies with the content of k.
func (e *expander) ambiguous(root render.RootID, object render.ObjectRef, by, other *node, k objects.Held) {
	e.graph.Gaps = append(e.graph.Gaps, render.Gap{
		Kind: render.GapAmbiguous, Root: root, Position: render.Position{Path: k.Root.Dir},
		Why:      fmt.Sprintf("%s is applied by %s and, with another content, by %s: which is in effect depends on when they are applied", object, parentName(by), parentName(other)),
		Identity: string(k.Object.JSON),
	})
}

func parentName(n *node) string {
	if n == nil {
		return "hand"
	}
	return n.root.Object.String()
}

// isBelow reports whether a unit is another unit or one of its descendants.
func (e *expander) isBelow(n, above *node) bool {
	for ; n != nil; n = n.parent {
		if n == above {
			return true
		}
	}
	return false
}

// fail marks a unit as not rendered, with a problem as the reason.
func (n *node) fail(kind render.ProblemKind, field, message string) {
	n.root.Unit.Problem = &render.Problem{Kind: kind, Position: render.Position{Path: n.root.Dir}, Locate: n.locator(field), Message: message}
	n.resolved = true
}

// clusterOf returns the cluster with a name, and creates it if needed.
func (e *expander) clusterOf(name string) *cluster {
	i := slices.IndexFunc(e.clusters, func(c *cluster) bool { return c.name == name })
	if i < 0 {
		c := &cluster{name: name, self: map[render.ObjectRef]bool{}, urls: map[string]bool{}}
		for _, other := range e.clusters { // a cluster of a kubeconfig: the sources are in the cluster of the unit
			if len(name) > len(other.name) && name[:len(other.name)+1] == other.name+"," {
				c.self, c.urls, c.branch = other.self, other.urls, other.branch
			}
		}
		e.clusters = append(e.clusters, c)
		return c
	}
	return e.clusters[i]
}
