package tree

// submodules is a file system that knows git submodules, as a git tree does.
type submodules interface {
	// Submodule is the commit that the submodule at a path is at, in hex, if there is one.
	Submodule(name string) (commit string, ok bool)
}

// Submodule is the commit of the git submodule at a path, if there is one.
func (t *Tree) Submodule(name string) (commit string, ok bool) {
	known, ok := t.Fsys.(submodules)
	if !ok {
		return "", false
	}
	return known.Submodule(name)
}
