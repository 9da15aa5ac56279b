package render

import (
	"path"
	"strings"
)

// directories is a file system that knows the git names of its directories, as a git
// tree does.
type directories interface {
	// TreeID is the name of the tree object of the directory at a path without symbolic
	// links, in hex. Directories of one name hold the same, down to every file, symbolic
	// link and submodule.
	TreeID(name string) (string, error)
}

// twins are the directories that a tree has in common with another one, which was
// searched before: at the same paths, with the same in them. What follows from nothing
// but such a directory and its path need not be found out again. Its methods may be
// called on nil.
type twins struct {
	tree directories
	// found is what the other tree holds, id what git calls its directories; an empty
	// name is that of none.
	found *discoverer
	id    func(dir string) string
	// inputs are those of roots of the other tree, if they are remembered.
	inputs map[RootID]*rememberedInputs
}

// twins gives the directories in common with the tree beside, or else with the one
// that the cache remembers, as far as either was searched.
func (r *Renderer) twins() *twins {
	named, ok := r.tree.fsys.(directories)
	if !ok {
		return nil
	}
	if r.beside != nil {
		other, ok := r.beside.tree.fsys.(directories)
		found := r.beside.found.Load()
		if !ok || found == nil {
			return nil
		}
		return &twins{tree: named, found: found, id: func(dir string) string { return treeID(other, dir) }}
	}
	if r.opts.Cache == nil {
		return nil
	}
	m := r.recall()
	if m == nil {
		return nil
	}
	return &twins{tree: named, found: m.found, id: func(dir string) string { return m.ids[dir] }, inputs: m.inputs}
}

// treeID is the name git gives a directory, empty when there is none.
func treeID(in directories, dir string) string {
	id, err := in.TreeID(dir)
	if err != nil {
		return ""
	}
	return id
}

// same tells whether both trees have the same directory at a path.
func (w *twins) same(dir string) bool {
	id := w.id(dir)
	return id != "" && id == treeID(w.tree, dir)
}

// list adds a directory and those below it to what a search found, going by the other
// tree. It is false when that has another one.
func (w *twins) list(d *discoverer, l *listing) bool {
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
		d.add(&listing{
			path: other.path, kustomizations: other.kustomizations, manifests: other.manifests,
			chart: other.chart, template: other.template, beside: other.beside, twin: other, top: l.path,
		})
	}
	return true
}

// saysTwin gives what the kustomization files of a directory say, if that was found out
// before and follows from what both trees have in common; else nil.
func (l *listing) saysTwin() *Uses {
	if l.twin == nil {
		return nil
	}
	s := l.twin.says
	if s == nil || s.Linked || len(s.Diagnostics) > 0 || !isWithin(l.top, s.Within) {
		return nil
	}
	return s
}

// isWithin tells whether a path is a directory or below it.
func isWithin(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// hasTwin tells whether a directory is, or is below, one that the other tree has as
// well.
func (d *discoverer) hasTwin(dir string) bool {
	for {
		if at, ok := d.extents[dir]; ok {
			return d.dirs[at.from].twin != nil
		}
		if dir == "." {
			return false
		}
		dir = path.Dir(dir)
	}
}

// Unchanged tells whether a root that has inputs in the tree beside has the same in
// this one, as Valid does.
func (r *Renderer) Unchanged(in *Inputs) bool {
	if found := r.found.Load(); found != nil && r.beside != nil && in.of == r.beside.tree && !in.linked && found.hasTwin(in.within) {
		return true
	}
	return r.Valid(in.Trace)
}
