package gaps

import (
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/change"
)

// KeepRoots makes roots of the base that still have files roots of the head too. Otherwise a change
// could exclude a root from judging: by a kustomization that uses it and patches its objects, by
// making it a component, by using one of its files, or by breaking one so that it looks like a template.
func (l *Ledger) KeepRoots() {
	for _, root := range l.Base.Found.Roots {
		if root.Unit != nil {
			continue
		}
		now, ok := l.Head.Root(root.RootID)
		if !ok {
			if now, ok = still(l.Head, root); ok {
				l.Head.Add(now)
			}
		}
		if !ok || now.Kind == root.Kind {
			l.keepBroken(root, now.Files)
		}
	}
	l.keepBelow()
	l.unlisted()
}

// keepBroken keeps the files of a plain root of the base that look like templates now. What applies the root fails at
// them, and does not delete their objects. now are the files of the root of the head.
func (l *Ledger) keepBroken(root render.Root, now []string) {
	var broken []string
	for _, o := range l.Head.Found.Gaps {
		if o.Kind == render.GapTemplate && slices.Contains(root.Files, o.Path) && !slices.Contains(now, o.Path) {
			broken = append(broken, o.Path)
		}
	}
	if len(broken) > 0 {
		l.Head.SetFiles(root.RootID, slices.Sorted(slices.Values(slices.Concat(now, broken))))
	}
}

// keepBelow makes roots of directories at or below a plain root of the base to which the change
// adds manifests or a kustomization, and that only kustomizations outside of that root use: a tool
// that applies the root recursively applies them unpatched. A directory of manifests also becomes a
// root of the base, so that only its new objects count as new.
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

// keepNew makes a root of a directory if the change adds a kustomization or manifests to it.
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

// unlisted adds manifests that are new or changed, in directories that were plain roots at base and
// have a kustomization at head, if they are not among its resources: a tool that applies the
// directory's files still applies them.
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

// still returns a root of the other side as it is on this one; ok is false if its files are gone.
func still(s *change.Side, root render.Root) (render.Root, bool) {
	if s.HasKustomization(root.Dir) {
		return render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: root.Dir}}, true
	}
	if root.Kind != render.KindPlain || !slices.ContainsFunc(root.Files, s.Has) {
		return render.Root{}, false
	}
	return s.Renderer.Plain(root.Dir) // including new files: a kustomization that uses one may delete its objects
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
