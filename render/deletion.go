package render

// deletedBy is Source.DeletedBy.
func (f *chainFinder) deletedBy(t *tree, dir string) []Deletion {
	id := f.identity()
	l := &locator{tree: t, closure: walk(t, dir, newTrace()), dir: dir}
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
