package deploy

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/data"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/resourceset"
)

var (
	resourceSetKind   = schema.GroupKind{Group: resourceset.Group, Kind: resourceset.Kind}
	inputProviderKind = schema.GroupKind{Group: resourceset.Group, Kind: "ResourceSetInputProvider"}
)

// addSet adds the unit of a ResourceSet that another unit applies.
func (e *expander) addSet(parent *node, k objects.Held) {
	n := &node{cluster: e.clusterOf(parent.root.Unit.Cluster), parent: parent, depth: parent.depth + 1}
	key := unitKey{n.cluster.name, k.Ref()}
	if known := e.units[key]; known != nil {
		if !(&render.Unit{Object: known.root.Unit.Object}).Same(&render.Unit{Object: k.Object.JSON}) {
			e.appliedDifferently(known, n, k)
		}
		return
	}
	e.units[key] = n
	e.nodes = append(e.nodes, n)
	u := &render.Unit{
		Object: k.Object.JSON, Parent: k.Root, Index: k.Object.Index, Cluster: n.cluster.name,
		Checkout: render.Checkout{Top: "."}, Origins: e.origins.of,
	}
	n.root = render.Root{RootID: render.RootID{Kind: render.KindResourceSet, Dir: k.Root.Dir, Object: k.Ref(), Cluster: n.cluster.name}, Unit: u}
	var err error
	if n.set, err = resourceset.Parse(u.Object); err != nil {
		n.set = &resourceset.Set{}
		n.fail(render.ProblemRefused, "spec", err.Error())
		return
	}
	u.Apply = n.set.Apply()
	for _, unknown := range k.Object.Unknown {
		if len(unknown.Path) == 0 || unknown.Path[0] == "spec" || unknown.Path[0] == "metadata" {
			n.fail(render.ProblemRefused, "spec", fmt.Sprintf("the field %s of the ResourceSet is not known: %s", unknown.Field(), unknown.Reason))
			return
		}
	}
	switch {
	case n.depth > maxDepth:
		n.fail(render.ProblemRefused, "", fmt.Sprintf("the ResourceSet is applied by %d others, one by the other: they may make each other without end", maxDepth))
	case len(e.nodes) > maxUnits:
		n.fail(render.ProblemRefused, "", fmt.Sprintf("there are more than %d units", maxUnits))
	}
}

// resolveSet finds the inputs that providers give to a ResourceSet.
func (e *expander) resolveSet(n *node) error {
	n.resolved = true
	u := n.root.Unit
	for i, from := range n.set.Spec.InputsFrom {
		field := fmt.Sprintf("spec.inputsFrom[%d]", i)
		if from.Name == "" {
			n.fail(render.ProblemRefused, field, "inputs of providers that are selected by labels are not supported: name them")
			return nil
		}
		ref := render.ObjectRef{Group: inputProviderKind.Group, Kind: inputProviderKind.Kind, Namespace: cmp.Or(n.set.Metadata.Namespace, objects.DefaultNamespace), Name: from.Name}
		if slices.ContainsFunc(u.Inputs, func(in render.Input) bool { return in.Provider == ref }) {
			continue
		}
		found, ok, err := e.lookUp(n.cluster, ref)
		if err != nil {
			return err
		}
		if !ok {
			n.fail(render.ProblemRefused, field, fmt.Sprintf("%s, from which it takes inputs, is not in the repository", ref))
			return nil
		}
		in, why := data.InputsOf(found.Object, found.Root, ref)
		if why != "" {
			n.fail(render.ProblemRefused, field, why)
			return nil
		}
		u.Inputs = append(u.Inputs, in)
	}
	slices.SortFunc(u.Inputs, func(a, b render.Input) int { return cmp.Compare(a.Provider.Name, b.Provider.Name) })
	return nil
}
