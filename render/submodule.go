package render

import (
	"io/fs"
	"path"
)

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
		if r.Kind == KindPlain {
			plain[r.Path] = true
		}
	}
	for _, l := range d.dirs {
		if len(l.submodules) == 0 || !d.mayBePlain(l) || !isBelow(l.path, plain) {
			continue
		}
		for _, name := range l.submodules {
			if commit, ok := d.tree.submodule(name); ok {
				if d.out.Submodules == nil {
					d.out.Submodules = map[string]string{}
				}
				d.out.Submodules[name] = commit
			}
		}
	}
}

// isBelow tells whether a directory is one of some, or below one.
func isBelow(dir string, some map[string]bool) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if some[dir] {
			return true
		}
	}
	return some["."]
}
