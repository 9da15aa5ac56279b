package change

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/preadmit/preadmit/render"
)

// LostDependencies returns the units of the base that a unit of Flux depends on (spec.dependsOn) and whose objects the change
// deletes. Flux does not apply the unit until objects with these names exist.
func (c *Change) LostDependencies(root render.Root) []render.Root {
	if c.Base == nil || root.Unit == nil || root.Kind != render.KindFlux && root.Kind != render.KindHelm {
		return nil
	}
	var object struct {
		Spec struct {
			DependsOn []struct{ Name, Namespace string } `json:"dependsOn"`
		} `json:"spec"`
	}
	if json.Unmarshal(root.Unit.Object, &object) != nil {
		return nil // rendering reports it
	}
	var lost []render.Root
	for _, other := range object.Spec.DependsOn {
		ref := root.Object
		ref.Name, ref.Namespace = other.Name, cmp.Or(other.Namespace, ref.Namespace)
		i := slices.IndexFunc(c.Base.Found.Roots, func(was render.Root) bool { return was.Object == ref && was.Cluster == root.Cluster })
		if i < 0 || ref == (render.ObjectRef{}) {
			continue
		}
		if was := c.Base.Found.Roots[i]; was.Unit != nil && !c.isElsewhere(was) && c.parentFate(was) == Deleted {
			lost = append(lost, was)
		}
	}
	return lost
}
