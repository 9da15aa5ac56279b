package kustomize

import (
	"path"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// Parts returns the roots that can be rendered of a refused root: the bases in the tree that its
// kustomizations use and that can be built, and the manifest files they list directly. A part's objects differ
// from the root's: names, namespaces and patches of the kustomizations above it are missing. A root that is
// not refused has no parts.
func (r *Source) Parts(root render.Root) []render.Root {
	p := &splitter{tree: r.tree, seen: map[string]bool{}}
	p.split(root.Dir)
	return p.parts
}

// splitter collects the parts of a refused root, each directory once.
type splitter struct {
	tree  *tree.Tree
	seen  map[string]bool
	parts []render.Root
}

// split adds the parts of the kustomization in dir; none if it is not refused.
func (p *splitter) split(dir string) {
	if p.seen[dir] {
		return
	}
	p.seen[dir] = true
	c := build.Walk(p.tree, dir, tree.NewTrace())
	if c.Refused == nil {
		return
	}
	plain := render.Root{RootID: render.RootID{Kind: render.KindPlain, Dir: dir}}
	for _, e := range c.Entries {
		if e.Kind != build.RefResource || e.Target == "" || e.From.Dir != dir {
			continue
		}
		to := p.tree.Resolve(e.Target)
		switch {
		case to.Err != nil, overlay.Under(to.Real):
		case to.IsDir:
			p.base(to.Real)
		default:
			plain.Files = append(plain.Files, e.Target)
		}
	}
	if len(plain.Files) > 0 {
		p.parts = append(p.parts, plain)
	}
}

// base adds a base as a whole if it can be rendered, else its parts.
func (p *splitter) base(dir string) {
	if p.seen[dir] {
		return
	}
	if c := build.Walk(p.tree, path.Clean(dir), tree.NewTrace()); c.Problem() != nil {
		p.split(dir)
		return
	}
	p.seen[dir] = true
	p.parts = append(p.parts, render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}})
}
