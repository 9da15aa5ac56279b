package rules

import (
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// DeletedBy implements origin.History.
func (f *chainFinder) DeletedBy(t *tree.Tree, dir string) []origin.Deletion {
	id := f.identity()
	l := &locator{tree: t, closure: build.Walk(t, dir, tree.NewTrace()), dir: dir}
	var out []origin.Deletion
	for _, k := range l.closure.Files {
		for _, layer := range append([]*build.Kustomization{k}, l.builtins(k)...) {
			for _, m := range l.patchesIn(layer).merges {
				d, _ := origin.ChildOf(m.node, origin.Directive, 0)
				if d.Value != nil && d.Value.Value == "delete" && m.isFor(id) {
					out = append(out, origin.Deletion{Directive: origin.Start(m.snippet.Position(d.Value)), Entry: origin.Start(layer.Position(m.at...))})
				}
			}
		}
	}
	return out
}

func (m mergePatch) isFor(id identity) bool {
	return m.target != nil && selects(m.target, id) || m.target == nil && id.isOf(m.node)
}

// identity returns what patches select the object by.
func (f *chainFinder) identity() identity {
	f.locator.mu.Lock()
	defer f.locator.mu.Unlock()
	return f.locator.identity(f.object, f.document)
}
