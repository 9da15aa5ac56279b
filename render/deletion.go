package render

// Deletion is a `$patch: delete` of an object, and the entry of the kustomization that
// applies it.
type Deletion struct{ Directive, Entry Position }

// DeletedBy are the patches by which the kustomizations of a root of some tree take
// away an object that has the kind and a name of this one: where a change deletes what
// was rendered before. It is nil for objects of plain roots.
func (s *Source) DeletedBy(r *Renderer, root Root) []Deletion {
	p := s.places()
	if p.chain == nil || root.Kind != KindKustomize {
		return nil
	}
	id := p.chain.identity()
	l := &locator{renderer: r, closure: r.tree.walk(root.Dir, newTrace()), root: root}
	var out []Deletion
	for _, k := range l.closure.files {
		for _, layer := range append([]*kustomization{k}, l.builtins(k)...) {
			for _, m := range l.patchesIn(layer).merges {
				d, _ := field(m.node, directive, 0)
				if d.value != nil && d.value.Value == "delete" && m.isFor(id) {
					out = append(out, Deletion{start(m.snippet.position(d.value)), start(layer.position(m.at...))})
				}
			}
		}
	}
	return out
}

func (m mergePatch) isFor(id identity) bool {
	return m.target != nil && selects(m.target, id) || m.target == nil && id.isOf(m.node)
}

// identity is what patches know the object by.
func (f *chainFinder) identity() identity {
	f.locator.mu.Lock()
	defer f.locator.mu.Unlock()
	return f.locator.identity(f.object, f.document)
}
