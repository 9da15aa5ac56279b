package render

import "path"

// Parts returns what can be rendered of a root that is refused: the bases in the
// tree that its kustomizations use and that need nothing refused themselves, and
// the manifest files they list directly. What a part renders to is not what the
// root would: names, namespaces and patches of the kustomizations above it are
// missing. A root that is not refused has no parts.
func (r *kustomizeSource) Parts(root Root) []Root {
	p := &partition{tree: r.tree, seen: map[string]bool{}}
	p.split(root.Dir)
	return p.parts
}

// partition collects the parts of a refused root, each directory once.
type partition struct {
	tree  *tree
	seen  map[string]bool
	parts []Root
}

// split adds the parts of the kustomization in dir; one that needs nothing
// refused is a part as a whole.
func (p *partition) split(dir string) {
	if p.seen[dir] {
		return
	}
	p.seen[dir] = true
	c := walk(p.tree, dir, newTrace())
	if c.refused == nil {
		return
	}
	plain := Root{RootID: RootID{Kind: KindPlain, Dir: dir}}
	for _, e := range c.entries {
		if e.kind != refResource || e.target == "" || e.from.dir != dir {
			continue
		}
		to := p.tree.resolve(e.target)
		switch {
		case to.err != nil:
		case to.isDir:
			p.base(to.real)
		default:
			plain.Files = append(plain.Files, e.target)
		}
	}
	if len(plain.Files) > 0 {
		p.parts = append(p.parts, plain)
	}
}

// base adds a base: whole when it can be rendered, else what can be of it.
func (p *partition) base(dir string) {
	if p.seen[dir] {
		return
	}
	if c := walk(p.tree, path.Clean(dir), newTrace()); c.problem() != nil {
		p.split(dir)
		return
	}
	p.seen[dir] = true
	p.parts = append(p.parts, Root{RootID: RootID{Kind: KindKustomize, Dir: dir}})
}
