package scanner

import (
	"bytes"
	"io/fs"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
)

// keepRoots makes roots of the base that still have their files roots of the head
// too. Else a change could take a root out of the gate's sight: by a kustomization
// that uses it and patches what it renders to, by making a component of it, or by
// reading one of its files.
func (s *scan) keepRoots() {
	for _, root := range s.base.found.Roots {
		if _, ok := s.head.root(root.RootID); ok {
			continue
		}
		if kept, ok := s.head.still(root); ok {
			s.head.keep(kept)
		}
	}
	s.keepBelow()
	s.tellUnlisted()
}

// keep adds a root to those that were discovered. Nothing of it is left out then because
// others use something beside it.
func (s *side) keep(root render.Root) {
	s.found.Gaps = slices.DeleteFunc(s.found.Gaps, func(o render.Gap) bool {
		return o.Kind == render.GapUnused && o.Root.Dir == root.Dir
	})
	at, _ := slices.BinarySearchFunc(s.found.Roots, root, func(a, b render.Root) int { return a.Compare(b.RootID) })
	s.found.Roots = slices.Insert(s.found.Roots, at, root)
}

// still gives a root of the other side as it is on this one; ok is false when
// nothing of it is left.
func (s *side) still(root render.Root) (render.Root, bool) {
	if s.hasKustomization(root.Dir) {
		return render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: root.Dir}}, true
	}
	if root.Kind != render.KindPlain || !slices.ContainsFunc(root.Files, s.has) {
		return render.Root{}, false
	}
	return s.renderer.Plain(root.Dir) // new files too: what uses one may delete what is in it
}

// keepBelow makes roots of directories at or below a plain root of the base that the
// change adds manifests or a kustomization to, and that only kustomizations outside of
// that root use: what applies the root with all below it applies them as they are. Such a
// directory of manifests is a root of the base too, so that only what is new counts as
// new.
func (s *scan) keepBelow() {
	var below []string
	for dir, users := range s.head.renderer.Users() {
		above, ok := s.base.plainAbove(dir)
		inside := func(user string) bool { return under(above, user) }
		if _, known := s.head.rootAt(dir); ok && !known && s.selected(dir) && !slices.ContainsFunc(users, inside) {
			below = append(below, dir)
		}
	}
	for _, dir := range below {
		s.keepNew(dir)
	}
}

// plainAbove is the nearest plain root at or above a directory.
func (s *side) plainAbove(dir string) (found string, ok bool) {
	for {
		root, ok := s.rootAt(dir)
		if ok && root.Kind == render.KindPlain || dir == "." {
			return dir, ok && root.Kind == render.KindPlain
		}
		dir = path.Dir(dir)
	}
}

// keepNew makes a root of a directory with something new to apply.
func (s *scan) keepNew(dir string) {
	if s.head.hasKustomization(dir) {
		if !s.base.hasKustomization(dir) {
			s.head.keep(render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}})
		}
		return
	}
	root, ok := s.head.renderer.Plain(dir)
	if !ok || !slices.ContainsFunc(root.Files, func(name string) bool { return !s.base.has(name) }) {
		return
	}
	s.head.keep(root)
	if before, ok := s.base.renderer.Plain(dir); ok {
		s.base.keep(before)
	}
}

// tellUnlisted tells of new and changed manifests in plain roots of the base that are
// kustomizations now which do not have them for resources: what goes on applying the
// directory's files applies them.
func (s *scan) tellUnlisted() {
	for _, before := range s.base.found.Roots {
		now, ok := s.head.root(before.RootID)
		if !ok || before.Kind != render.KindPlain || now.Kind != render.KindKustomize || !s.selected(now.Dir) {
			continue
		}
		for _, name := range s.head.renderer.Unlisted(now.Dir) {
			if !s.head.sameFile(s.base, name) {
				s.openUnlisted(now.Dir, name)
			}
		}
	}
}

func (s *scan) openUnlisted(root, name string) {
	s.open(report.Indeterminate{
		What: "manifest", Root: root, Location: ptr(locationOf(render.Position{Path: name}, headTree)),
		Why: "the change makes a kustomization of this directory that does not have this among its resources: what applies the directory as plain manifests goes on applying it",
	})
}

// sameFile tells whether two sides have the same in a file.
func (s *side) sameFile(other *side, name string) bool {
	a, err := fs.ReadFile(s.tree.FS, name)
	if err != nil {
		return false
	}
	b, err := fs.ReadFile(other.tree.FS, name)
	return err == nil && bytes.Equal(a, b)
}
