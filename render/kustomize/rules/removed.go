package rules

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// mergesFor returns the strategic merge patches that an object went through, the last first.
func (l *locator) mergesFor(id identity) []mergePatch {
	var out []mergePatch
	for _, k := range id.kustomizations {
		for _, m := range slices.Backward(l.patchesIn(k).merges) {
			if m.isFor(id) {
				out = append(out, m)
			}
		}
	}
	return out
}

// removed finds the `null` or `$patch` that removed a field or one of its parents.
func (l *locator) removed(object int, document tree.Position, path string) (tree.Position, bool) {
	res := l.resources[object]
	steps := origin.ParsePath(path)
	hops, complete := origin.Descend(res.YNode(), steps)
	if complete {
		return tree.Position{}, false
	}
	steps = origin.Canonical(hops, steps)
	id := l.identity(object, document)
	for _, m := range l.mergesFor(id) {
		if at := m.removal(steps, hops, l.existed(id, steps)); at != nil {
			return origin.Start(m.snippet.Position(at)), true
		}
	}
	return tree.Position{}, false
}

// removal returns the node of a patch that removes a field. Replacing a map removes the fields that other
// documents set in it.
func (m mergePatch) removal(steps []origin.PathStep, hops []origin.Pair, existed func() bool) *yaml.Node {
	node := m.node
	for i, step := range steps {
		var now *yaml.Node
		if i < len(hops) {
			now = hops[i].Value
		}
		next := below(node, step, now)
		switch {
		case next.Value == nil:
			return nil
		case next.Value.Tag == "!!null":
			return written(next)
		}
		if next.Value.Kind == yaml.MappingNode {
			switch d, _ := origin.ChildOf(next.Value, origin.Directive, 0); {
			case d.Value == nil:
			case d.Value.Value == "delete", d.Value.Value == "replace" && existed():
				return d.Value
			}
		}
		node = next.Value
	}
	return nil
}

// written returns the node to report for a null field: its key when no value is written.
func written(h origin.Pair) *yaml.Node {
	if h.Key != nil && h.Value.Value == "" {
		return h.Key
	}
	return h.Value
}

// below returns the child of a patch's node for one step. now is the object's node there: an element of a list
// is found by its merge key, a scalar by its value.
func below(node *yaml.Node, step origin.PathStep, now *yaml.Node) origin.Pair {
	if node.Kind == yaml.MappingNode {
		h, _ := origin.ChildOf(node, step.Key, 0)
		return h
	}
	for _, item := range node.Content {
		if now != nil && sameItem(item, now) {
			return origin.Pair{Value: origin.Unalias(item)}
		}
	}
	return origin.Pair{}
}

// sameItem reports whether elements of lists have the same merge keys, or are the same scalar.
func sameItem(a, b *yaml.Node) bool {
	a = origin.Unalias(a)
	return origin.SameElement(a, b) || a.Kind == yaml.ScalarNode && b.Kind == yaml.ScalarNode && a.Value == b.Value
}

// existed returns a function that reports whether any document of an object has a field.
func (l *locator) existed(id identity, steps []origin.PathStep) func() bool {
	return func() bool {
		for _, doc := range l.documents(id) {
			if _, complete := origin.Descend(doc, steps); complete {
				return true
			}
		}
		return false
	}
}

// documents returns the documents of the closure that have an object's kind and name.
func (l *locator) documents(id identity) []*yaml.Node {
	var out []*yaml.Node
	seen := map[tree.Position]bool{} // a file may occur in several builds
	for i := range l.padder.Ranges {
		r := &l.padder.Ranges[i]
		if doc := r.Written(); doc != nil && id.isOf(doc) && !seen[r.Top()] {
			seen[r.Top()] = true
			out = append(out, doc)
		}
	}
	return out
}

// removals returns the elements that patches removed from a list, or the keys from a map that is now empty.
func (l *locator) removals(object int, document tree.Position, path string) []origin.Removal {
	res := l.resources[object]
	hops, complete := origin.Descend(res.YNode(), origin.ParsePath(path))
	if !complete || len(hops) == 0 || hops[len(hops)-1].Value.Kind != yaml.SequenceNode {
		return l.emptied(object, document, path)
	}
	list := hops[len(hops)-1].Value
	steps := origin.Canonical(hops, origin.ParsePath(path))
	var out []origin.Removal
	id := l.identity(object, document)
	for _, m := range l.mergesFor(id) {
		out = append(out, l.takenOut(m, id, steps, hops, list)...)
	}
	return append(out, l.operatedOut(object, document, steps)...)
}

// takenOut returns the elements that a strategic merge patch removed from a list.
func (l *locator) takenOut(m mergePatch, id identity, steps []origin.PathStep, hops []origin.Pair, list *yaml.Node) []origin.Removal {
	node := m.node
	for i, step := range steps {
		if node = below(node, step, hops[i].Value).Value; node == nil {
			return nil
		}
	}
	var out []origin.Removal
	for _, item := range node.Content {
		item := origin.Unalias(item)
		d, ok := origin.ChildOf(item, origin.Directive, 0)
		if !ok || item.Kind != yaml.MappingNode {
			continue
		}
		at := origin.Start(m.snippet.Position(d.Value))
		for _, e := range l.elements(id, steps) {
			if d.Value.Value == "delete" && origin.SameElement(e, item) || d.Value.Value == "replace" && !holds(list, e) {
				out = append(out, origin.Removal{Element: origin.JSONValue(e), Position: at})
			}
		}
		if d.Value.Value == "delete" { // perhaps of a document with another name
			out = append(out, origin.Removal{Element: withoutDirective(item), Position: at})
		}
	}
	return out
}

func withoutDirective(item *yaml.Node) any {
	element, _ := origin.JSONValue(item).(map[string]any)
	delete(element, origin.Directive)
	return element
}

func holds(list, element *yaml.Node) bool {
	return slices.ContainsFunc(list.Content, func(item *yaml.Node) bool { return origin.SameElement(origin.Unalias(item), element) })
}

// elements returns the elements of a list in the documents of an object, without those that have a $patch
// directive.
func (l *locator) elements(id identity, steps []origin.PathStep) []*yaml.Node {
	var out []*yaml.Node
	for _, doc := range l.documents(id) {
		hops, complete := origin.Descend(doc, steps)
		if !complete || len(hops) == 0 || hops[len(hops)-1].Value.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range hops[len(hops)-1].Value.Content {
			item = origin.Unalias(item)
			if item.Kind != yaml.MappingNode {
				continue
			}
			if _, ok := origin.ChildOf(item, origin.Directive, 0); !ok {
				out = append(out, item)
			}
		}
	}
	return out
}
