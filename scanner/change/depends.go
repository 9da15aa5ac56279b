package change

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/preadmit/preadmit/render"
)

// LostDependencies returns the units of the base that a unit of Flux depends on (spec.dependsOn) and whose objects the change
// deletes. Flux does not apply the unit until objects with these names exist.
func (c *Change) LostDependencies(root render.Root) []render.Root {
	if c.Base == nil {
		return nil
	}
	var lost []render.Root
	for _, other := range dependencies(root) {
		i := slices.IndexFunc(c.Base.Found.Roots, func(was render.Root) bool { return unitOf(was) == other })
		if i < 0 {
			continue
		}
		if was := c.Base.Found.Roots[i]; was.Unit != nil && !c.isElsewhere(was) && c.parentFate(was) == Deleted {
			lost = append(lost, was)
		}
	}
	return lost
}

// unit is an object of Flux in a cluster.
type unit struct {
	cluster string
	object  render.ObjectRef
}

func unitOf(root render.Root) unit { return unit{root.Cluster, root.Object} }

// dependencies returns the units that a unit of Flux depends on (spec.dependsOn).
func dependencies(root render.Root) []unit {
	if root.Unit == nil || root.Kind != render.KindFlux && root.Kind != render.KindHelm || root.Object == (render.ObjectRef{}) ||
		!bytes.Contains(root.Unit.Object, []byte(`"dependsOn"`)) { // most have none
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
	var all []unit
	for _, other := range object.Spec.DependsOn {
		u := unitOf(root)
		u.object.Name, u.object.Namespace = other.Name, cmp.Or(other.Namespace, root.Object.Namespace)
		all = append(all, u)
	}
	return all
}

// Blocked is a unit of the head that waits for itself, or for units that wait for themselves. Flux does not apply it.
type Blocked struct {
	render.Root
	// Path leads from the unit along spec.dependsOn until a unit occurs again, for at most maxPath units.
	Path []render.ObjectRef
}

// maxPath limits the length of a Path, so that a long cycle does not take time and space for each of its units.
const maxPath = 10

// Blocked returns the units of the head that the change makes wait for themselves by spec.dependsOn.
func (c *Change) Blocked() (all []Blocked) {
	now, was := blocked(c.Head.Found.Roots), map[unit]unit{}
	if len(now) > 0 && c.Base != nil {
		was = blocked(c.Base.Found.Roots)
	}
	for _, root := range c.Head.Found.Roots {
		u := unitOf(root)
		_, waits := now[u]
		if _, waited := was[u]; waited || !waits {
			continue
		}
		b := Blocked{Root: root, Path: []render.ObjectRef{u.object}}
		for seen := map[unit]bool{}; !seen[u] && len(b.Path) < maxPath; b.Path = append(b.Path, u.object) {
			seen[u] = true
			u = now[u]
		}
		all = append(all, b)
	}
	return all
}

// blocked returns the units from which spec.dependsOn leads to a cycle, each with the next on the way to it.
func blocked(roots []render.Root) map[unit]unit {
	depends, waiting := map[unit][]unit{}, map[unit][]unit{}
	for _, root := range roots {
		u := unitOf(root)
		if all := dependencies(root); len(all) > 0 && depends[u] == nil {
			depends[u] = all
			for _, other := range all {
				waiting[other] = append(waiting[other], u)
			}
		}
	}
	waits, free := map[unit]int{}, []unit{}
	for u, all := range depends {
		waits[u] = len(all)
	}
	for other := range waiting {
		if waits[other] == 0 {
			free = append(free, other)
		}
	}
	for len(free) > 0 {
		other := free[len(free)-1]
		free = free[:len(free)-1]
		for _, u := range waiting[other] {
			if waits[u]--; waits[u] == 0 {
				free = append(free, u)
			}
		}
	}
	next := map[unit]unit{}
	for u, all := range depends {
		if waits[u] > 0 {
			next[u] = all[slices.IndexFunc(all, func(other unit) bool { return waits[other] > 0 })]
		}
	}
	return next
}
