package tree

// submodules is a file system with git submodules, like a git tree.
type submodules interface {
	// Submodule returns the commit of the submodule at a path, in hex, if there is one.
	Submodule(name string) (commit string, ok bool)
}

// Submodule returns the commit of the git submodule at a path, if there is one.
func (t *Tree) Submodule(name string) (commit string, ok bool) {
	known, ok := t.Fsys.(submodules)
	if !ok {
		return "", false
	}
	return known.Submodule(name)
}
