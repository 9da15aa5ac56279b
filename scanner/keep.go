package scanner

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// keepRoots makes roots of the base that still have their files roots of the head
// too. Else a change could take a root out of the gate's sight: by a kustomization
// that uses it and patches what it renders to, by making a component of it, or by
// reading one of its files.
func (s *scan) keepRoots() {
	found := s.head.found
	for _, root := range s.base.found.Roots {
		if _, ok := s.head.root(root.Path); ok {
			continue
		}
		if kept, ok := s.head.still(root); ok {
			found.Roots = append(found.Roots, kept)
		}
	}
	slices.SortFunc(found.Roots, func(a, b render.Root) int { return strings.Compare(a.Path, b.Path) })
}

// still gives a root of the other side as it is on this one; ok is false when
// nothing of it is left.
func (s *side) still(root render.Root) (render.Root, bool) {
	if s.hasKustomization(root.Path) {
		return render.Root{Path: root.Path, Kind: render.KindKustomize}, true
	}
	if root.Kind != render.KindPlain || !slices.ContainsFunc(root.Files, s.has) {
		return render.Root{}, false
	}
	return s.renderer.Plain(root.Path) // new files too: what uses one may delete what is in it
}
