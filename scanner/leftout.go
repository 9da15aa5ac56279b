package scanner

import (
	"slices"

	"github.com/preadmit/preadmit/render"
)

// whyLeftOut says why something is in no root.
func whyLeftOut(kind render.LeftOutKind) string {
	switch kind {
	case render.LeftOutSubmodule:
		return "a git submodule, whose manifests are not in this repository"
	case render.LeftOutUnused:
		return "used by no kustomization, though one uses another file of this directory"
	case render.LeftOutLink:
		return "a symbolic link to a directory: what is applied by its path is not judged by it"
	case render.LeftOutComponent:
		return "a Component that no root uses, so nothing renders it"
	case render.LeftOutTemplate:
		return "what looks like a template, which is not filled in"
	case render.LeftOutPointer:
		return "a pointer of Git LFS: the file itself is not in the repository"
	case render.LeftOutJsonnet:
		return "evaluated by Argo CD, which is not done here"
	case render.LeftOutHidden:
		return "in a directory whose name begins with a dot, which is not searched: move it if it is applied with the root"
	}
	return "a Helm chart, whose templates are not rendered"
}

// accountLeftOut tells of what may be applied though it is in no root.
func (s *scan) accountLeftOut() {
	var before []render.LeftOut
	if s.base != nil {
		before = s.base.found.LeftOut
	}
	now := s.head.found.LeftOut
	for _, o := range now {
		s.openLeftOut(o, "is ", headTree, slices.ContainsFunc(before, func(b render.LeftOut) bool { return b.Path == o.Path && b.ID == o.ID }))
	}
	for _, o := range before {
		used := o.Kind == render.LeftOutComponent && s.head.hasKustomization(o.Path)
		if !used && !slices.ContainsFunc(now, func(n render.LeftOut) bool { return n.Path == o.Path }) {
			s.openLeftOut(o, "was ", baseTree, false)
		}
	}
}

func (s *scan) openLeftOut(o render.LeftOut, is, tree string, untouched bool) {
	if !s.selected(o.Root) || !under(s.in.Head.Under, o.Path) {
		return
	}
	s.open(Indeterminate{
		What: string(o.Kind), Why: is + whyLeftOut(o.Kind), Root: o.Root, Untouched: untouched,
		Location: ptr(locationOf(render.Position{Path: o.Path}, tree)),
	})
}
