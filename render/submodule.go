package render

import (
	"io/fs"
	"path"
)

// Submodule is a git submodule. What is in it is of another repository, and in no root.
type Submodule struct {
	// Root is the path of the plain root that it is in or below.
	Root string
	// Commit is the one that it is at, in hex.
	Commit string
}

// submodules is a file system that knows git submodules, as a git tree does.
type submodules interface {
	// Submodule is the commit that the submodule at a path is at, in hex, if there is one.
	Submodule(name string) (commit string, ok bool)
}

// submodule is the commit of the git submodule at a path, if there is one.
func (t *tree) submodule(name string) (commit string, ok bool) {
	known, ok := t.fsys.(submodules)
	if !ok {
		return "", false
	}
	return known.Submodule(name)
}

// isSubmodule notes a git submodule in a directory.
func (d *discoverer) isSubmodule(l *listing, e fs.DirEntry) bool {
	if !e.IsDir() && e.Type()&fs.ModeIrregular == 0 {
		return false
	}
	name := path.Join(l.path, e.Name())
	_, ok := d.tree.submodule(name)
	if ok {
		l.submodules = append(l.submodules, name)
	}
	return ok
}

// plainSubmodules finds the submodules that what applies the manifests of a directory,
// and of those below it, applies as well: Argo CD and Flux check them out.
func (d *discoverer) plainSubmodules() {
	plain := map[string]bool{}
	for _, r := range d.out.Roots {
		plain[r.Path] = r.Kind == KindPlain
	}
	d.out.Submodules = map[string]Submodule{}
	for _, l := range d.dirs {
		root, ok := nearest(l.path, plain)
		if !ok || !d.mayBePlain(l) {
			continue
		}
		for _, name := range l.submodules {
			if commit, ok := d.tree.submodule(name); ok {
				d.out.Submodules[name] = Submodule{Root: root, Commit: commit}
			}
		}
	}
}

// nearest is the first of some directories at or above one.
func nearest(dir string, some map[string]bool) (found string, ok bool) {
	for ; dir != "." && !some[dir]; dir = path.Dir(dir) {
	}
	return dir, some[dir]
}
