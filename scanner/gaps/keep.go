package gaps

import (
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/change"
)

// KeepRoots makes roots of the base that still have their files roots of the head
// too. Else a change could take a root out of the gate's sight: by a kustomization
// that uses it and patches what it renders to, by making a component of it, or by
// reading one of its files.
func (l *Ledger) KeepRoots() {
	for _, root := range l.Base.Found.Roots {
		if _, ok := l.Head.Root(root.RootID); ok || root.Unit != nil {
			continue
		}
		if kept, ok := still(l.Head, root); ok {
			l.Head.Add(kept)
		}
	}
	l.keepBelow()
	l.unlisted()
}

// keepBelow makes roots of directories at or below a plain root of the base that the
// change adds manifests or a kustomization to, and that only kustomizations outside of
// that root use: what applies the root with all below it applies them as they are. Such a
// directory of manifests is a root of the base too, so that only what is new counts as
// new.
func (l *Ledger) keepBelow() {
	var below []string
	for dir, users := range l.Head.Renderer.Users() {
		above, ok := plainAbove(l.Base, dir)
		inside := func(user string) bool { return change.Under(above, user) }
		if _, known := l.Head.RootAt(dir); ok && !known && l.Selected(render.RootID{Dir: dir}) && !slices.ContainsFunc(users, inside) {
			below = append(below, dir)
		}
	}
	for _, dir := range below {
		l.keepNew(dir)
	}
}

// keepNew makes a root of a directory with something new to apply.
func (l *Ledger) keepNew(dir string) {
	if l.Head.HasKustomization(dir) {
		if !l.Base.HasKustomization(dir) {
			l.Head.Add(render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}})
		}
		return
	}
	root, ok := l.Head.Renderer.Plain(dir)
	if !ok || !slices.ContainsFunc(root.Files, func(name string) bool { return !l.Base.Has(name) }) {
		return
	}
	l.Head.Add(root)
	if before, ok := l.Base.Renderer.Plain(dir); ok {
		l.Base.Add(before)
	}
}

// unlisted adds new and changed manifests in plain roots of the base that are
// kustomizations now which do not have them for resources: what goes on applying the
// directory's files applies them.
func (l *Ledger) unlisted() {
	for _, before := range l.Base.Found.Roots {
		now, ok := l.Head.Root(before.RootID)
		if !ok || before.Kind != render.KindPlain || now.Kind != render.KindKustomize || !l.Selected(now.RootID) {
			continue
		}
		for _, name := range l.Head.Renderer.Unlisted(now.Dir) {
			if !l.Head.SameFile(l.Base, name) {
				l.addUnlisted(now.RootID, name)
			}
		}
	}
}

func (l *Ledger) addUnlisted(root render.RootID, name string) {
	l.Add(Gap{Tree: change.Head, Gap: render.Gap{
		Kind: Manifest, Root: root, Position: render.Position{Path: name},
		Why: "the change makes a kustomization of this directory that does not have this among its resources: what applies the directory as plain manifests goes on applying it",
	}})
}

// still returns a root of the other side as it is on this one; ok is false when
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

// plainAbove returns the nearest plain root at or above a directory.
func plainAbove(s *change.Side, dir string) (found string, ok bool) {
	for {
		root, ok := s.RootAt(dir)
		if ok && root.Kind == render.KindPlain || dir == "." {
			return dir, ok && root.Kind == render.KindPlain
		}
		dir = path.Dir(dir)
	}
}
