package render

import (
	"path"
	"strings"
)

// treeNames is a file system with git's names of its directories, like a git tree.
type treeNames interface {
	// TreeID returns the name of the tree object of the directory at a path without symbolic links, in hex. Directories
	// with the same name are equal, including every file, symbolic link and submodule.
	TreeID(name string) (string, error)
}

// shared are the directories that a tree has in common with another one, which was searched before: at the same paths,
// with the same content. Results that depend only on such a directory and its path are reused. Its methods may be
// called on nil.
type shared struct {
	ids treeNames
	// found is the discovery of the other tree. id returns git's name of a directory of the other tree, empty if there
	// is none.
	found *discoverer
	id    func(dir string) string
	// needs are the needs of roots of the other tree, if they come from the cache.
	needs map[RootID]*needsEntry
}

// shared returns the directories in common with the tree beside, or else with the one in the cache, if it was searched.
func (r *Renderer) shared() *shared {
	named, ok := r.tree.Fsys.(treeNames)
	if !ok {
		return nil
	}
	if r.beside != nil {
		other, ok := r.beside.tree.Fsys.(treeNames)
		found := r.beside.found.Load()
		if !ok || found == nil {
			return nil
		}
		return &shared{ids: named, found: found, id: func(dir string) string { return treeID(other, dir) }}
	}
	if r.opts.Cache == nil {
		return nil
	}
	cached := r.cachedTree()
	if cached == nil {
		return nil
	}
	return &shared{ids: named, found: cached.found, id: func(dir string) string { return cached.ids[dir] }, needs: cached.needs}
}

// treeID returns git's name of a directory; empty if there is none.
func treeID(in treeNames, dir string) string {
	id, err := in.TreeID(dir)
	if err != nil {
		return ""
	}
	return id
}

// same reports whether both trees have the same directory at a path.
func (w *shared) same(dir string) bool {
	id := w.id(dir)
	return id != "" && id == treeID(w.ids, dir)
}

// list adds a directory and its descendants to a search, using the other tree. It is false if the other tree has
// another directory there.
func (w *shared) list(d *discoverer, l *directory) bool {
	if w == nil {
		return false
	}
	extent, ok := w.found.extents[l.path]
	if !ok || w.found.dirs[extent.from].template != l.template || !w.same(l.path) {
		return false
	}
	known := w.found.dirs[extent.from:extent.to]
	for _, other := range known {
		if other.broken {
			return false
		}
	}
	moved := len(d.dirs) - extent.from
	for _, other := range known {
		at := w.found.extents[other.path]
		d.extents[other.path] = dirRange{at.from + moved, at.to + moved}
		d.add(&directory{
			path: other.path, rootFiles: other.rootFiles, manifests: other.manifests,
			chart: other.chart, template: other.template, beside: other.beside, same: other, top: l.path,
		})
	}
	return true
}

// sharedUses returns what the kustomization files of a directory use, if the other tree knows it and it depends only on
// what both trees have in common; else nil.
func (l *directory) sharedUses() *Uses {
	if l.same == nil {
		return nil
	}
	s := l.same.uses
	if s == nil || s.Linked || len(s.Diagnostics) > 0 || !isWithin(l.top, s.Within) {
		return nil
	}
	return s
}

// isWithin reports whether a path is a directory or below it.
func isWithin(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// isShared reports whether a directory is at or below one that the other tree has as well.
func (d *discoverer) isShared(dir string) bool {
	for {
		if at, ok := d.extents[dir]; ok {
			return d.dirs[at.from].same != nil
		}
		if dir == "." {
			return false
		}
		dir = path.Dir(dir)
	}
}

// Unchanged reports whether a root with these needs in the tree beside has the same needs in this one, as Valid does.
func (r *Renderer) Unchanged(in *Needs) bool {
	if found := r.found.Load(); found != nil && r.beside != nil && in.tree == r.beside.tree && !in.linked && found.isShared(in.within) {
		return true
	}
	return r.Valid(in.Trace)
}

// Reused counts what was reused.
type Reused struct{ Dirs, Uses, Needs int }

// Reused returns how many directories, uses of directories, and needs of roots Discover reused from another tree or the
// cache.
func (r *Renderer) Reused() (count Reused) {
	found := r.found.Load()
	for _, l := range found.dirs {
		if l.same == nil {
			continue
		}
		if count.Dirs++; l.uses != nil && l.uses == l.same.uses {
			count.Uses++
		}
	}
	for _, root := range found.out.Roots {
		if r.Needs(root).IsReused() {
			count.Needs++
		}
	}
	return count
}
