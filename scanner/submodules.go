package scanner

import (
	"maps"
	"slices"

	"github.com/preadmit/preadmit/render"
)

// accountSubmodules tells of git submodules among plain manifests: what is in them is not
// in the repository, but is applied with the rest.
func (s *scan) accountSubmodules() {
	var before map[string]render.Submodule
	if s.base != nil {
		before = s.base.found.Submodules
	}
	now := s.head.found.Submodules
	for _, name := range slices.Sorted(maps.Keys(now)) {
		s.openSubmodule(name, now[name], Indeterminate{
			Why:       "is a git submodule: the manifests in it are not in this repository",
			Location:  ptr(locationOf(render.Position{Path: name}, headTree)),
			Untouched: now[name].Commit == before[name].Commit,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, still := now[name]; !still {
			s.openSubmodule(name, before[name], Indeterminate{
				Why:      "was a git submodule: the manifests in it were not in this repository",
				Location: ptr(locationOf(render.Position{Path: name}, baseTree)),
			})
		}
	}
}

func (s *scan) openSubmodule(name string, m render.Submodule, i Indeterminate) {
	if s.selected(m.Root) && under(s.in.Head.Under, name) {
		i.What, i.Root = "submodule", m.Root
		s.open(i)
	}
}
