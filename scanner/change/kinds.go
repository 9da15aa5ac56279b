package change

import (
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// KnowKinds marks the units of targets whose CustomResourceDefinitions are all known: a chart that requires another
// custom kind fails to render there too. It skips units that already rendered.
func (c *Change) KnowKinds(around func(id render.RootID) (s Surroundings, ok bool, err error)) error {
	for _, side := range c.Trees() {
		if side.Graph == nil {
			continue
		}
		for _, roots := range [][]render.Root{side.Graph.Units, side.Found.Roots} {
			for i, root := range roots {
				if root.Unit == nil || root.Unit.Problem != nil || root.Unit.Release == nil && root.Unit.Application == nil {
					continue
				}
				if r := side.Expanded(root.RootID); r != nil && r.Problem == nil {
					continue
				}
				s, ok, err := around(side.ID(root))
				if err != nil {
					return err
				}
				if ok && slices.Contains(s.Complete, kinds.Definition) {
					roots[i] = withKinds(root)
				}
			}
		}
	}
	return nil
}

// withKinds returns a copy of the root of a unit that marks all custom kinds of the cluster as known.
func withKinds(root render.Root) render.Root {
	u := *root.Unit
	if u.Release != nil {
		r := *u.Release
		r.KindsKnown, u.Release = true, &r
	}
	if u.Application != nil {
		a := *u.Application
		a.KindsKnown, u.Application = true, &a
	}
	root.Unit = &u
	return root
}
