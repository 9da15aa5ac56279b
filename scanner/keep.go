package scanner

import (
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
)

// keepRoots makes roots of the base that still have their files roots of the head
// too. Else a change could take a root out of the gate's sight: by a kustomization
// that uses it and patches what it renders to, by making a component of it, or by
// reading one of its files.
func (s *scan) keepRoots() {
	for _, root := range s.Base.Found.Roots {
		if _, ok := s.Head.Root(root.RootID); ok {
			continue
		}
		if kept, ok := still(s.Head, root); ok {
			s.Head.Add(kept)
		}
	}
	s.keepBelow()
	s.tellUnlisted()
}

// keepBelow makes roots of directories at or below a plain root of the base that the
// change adds manifests or a kustomization to, and that only kustomizations outside of
// that root use: what applies the root with all below it applies them as they are. Such a
// directory of manifests is a root of the base too, so that only what is new counts as
// new.
func (s *scan) keepBelow() {
	var below []string
	for dir, users := range s.Head.Renderer.Users() {
		above, ok := plainAbove(s.Base, dir)
		inside := func(user string) bool { return change.Under(above, user) }
		if _, known := s.Head.RootAt(dir); ok && !known && s.Selected(dir) && !slices.ContainsFunc(users, inside) {
			below = append(below, dir)
		}
	}
	for _, dir := range below {
		s.keepNew(dir)
	}
}

// keepNew makes a root of a directory with something new to apply.
func (s *scan) keepNew(dir string) {
	if s.Head.HasKustomization(dir) {
		if !s.Base.HasKustomization(dir) {
			s.Head.Add(render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}})
		}
		return
	}
	root, ok := s.Head.Renderer.Plain(dir)
	if !ok || !slices.ContainsFunc(root.Files, func(name string) bool { return !s.Base.Has(name) }) {
		return
	}
	s.Head.Add(root)
	if before, ok := s.Base.Renderer.Plain(dir); ok {
		s.Base.Add(before)
	}
}

// tellUnlisted tells of new and changed manifests in plain roots of the base that are
// kustomizations now which do not have them for resources: what goes on applying the
// directory's files applies them.
func (s *scan) tellUnlisted() {
	for _, before := range s.Base.Found.Roots {
		now, ok := s.Head.Root(before.RootID)
		if !ok || before.Kind != render.KindPlain || now.Kind != render.KindKustomize || !s.Selected(now.Dir) {
			continue
		}
		for _, name := range s.Head.Renderer.Unlisted(now.Dir) {
			if !s.Head.SameFile(s.Base, name) {
				s.openUnlisted(now.Dir, name)
			}
		}
	}
}

func (s *scan) openUnlisted(root, name string) {
	s.open(report.Indeterminate{
		What: "manifest", Root: root, Location: new(change.LocationOf(render.Position{Path: name}, change.Head)),
		Why: "the change makes a kustomization of this directory that does not have this among its resources: what applies the directory as plain manifests goes on applying it",
	})
}

// still gives a root of the other side as it is on this one; ok is false when
// nothing of it is left.
func still(s *change.Side, root render.Root) (render.Root, bool) {
	if s.HasKustomization(root.Dir) {
		return render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: root.Dir}}, true
	}
	if root.Kind != render.KindPlain || !slices.ContainsFunc(root.Files, s.Has) {
		return render.Root{}, false
	}
	return s.Renderer.Plain(root.Dir) // new files too: what uses one may delete what is in it
}

// plainAbove is the nearest plain root at or above a directory.
func plainAbove(s *change.Side, dir string) (found string, ok bool) {
	for {
		root, ok := s.RootAt(dir)
		if ok && root.Kind == render.KindPlain || dir == "." {
			return dir, ok && root.Kind == render.KindPlain
		}
		dir = path.Dir(dir)
	}
}
