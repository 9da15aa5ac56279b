package rules

import (
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// nearest finds where the parent of a missing field was written, or the field itself if it is a map or list,
// when kustomize did not keep its line: it creates annotations, and maps that transformers add to, anew.
func (l *locator) nearest(object int, document tree.Position, path string) (tree.Position, bool) {
	node, steps := l.resources[object].YNode(), origin.ParsePath(path)
	hops, _ := origin.Descend(node, steps)
	steps = origin.Canonical(hops, steps)
	last := len(hops) - 1
	h, operated := newHistory(hops, steps, false), false
	if reparsed(node) { // an operation may have written the parent
		_, _, operated = l.operated(&h, l.identity(object, document))
	}
	if at, ok := l.leftOut(object, document, newHistory(hops, steps, false)); ok && !operated {
		return at, true
	}
	if last < 0 || hops[last].Value.Kind == yaml.ScalarNode {
		return tree.Position{}, false
	}
	if _, ok := l.hopPosition(hops[last]); ok {
		return tree.Position{}, false
	}
	hops, steps = hops[:last+1], steps[:last+1]
	h = newHistory(hops, steps, true)
	if reparsed(node) {
		if pos, ok, _ := l.operated(&h, l.identity(object, document)); ok {
			return pos, true
		}
	}
	if pos, ok := l.inOwnDocument(object, document, h); ok {
		return pos, true
	}
	if pos, ok := l.inMerges(l.identity(object, document), hops, steps); ok {
		return pos, true
	}
	return l.inTransformer(object, document, hops, steps)
}

// leftOut finds a map of an object's document, on the path to a field, that kustomize leaves out because it is
// empty or became empty.
func (l *locator) leftOut(object int, document tree.Position, h fieldHistory) (tree.Position, bool) {
	doc := l.ownDocument(object, document)
	if doc == nil {
		return tree.Position{}, false
	}
	if now := len(h.nodes) - 1; now >= 0 {
		if at, ok := l.hopPosition(h.nodes[now]); ok && !doc.snippet.Holds(at) {
			return tree.Position{}, false // the document has another value there
		}
	}
	written, _ := origin.Descend(doc.node, h.aligned(doc.node))
	last := len(written) - 1
	if last < len(h.nodes) || written[last].Value.Kind != yaml.MappingNode && written[last].Value.Tag != "!!null" {
		return tree.Position{}, false
	}
	return doc.snippet.Position(start(written[last])), true
}

// inOwnDocument finds a map or list in the document of an object.
func (l *locator) inOwnDocument(object int, document tree.Position, h fieldHistory) (tree.Position, bool) {
	doc := l.ownDocument(object, document)
	if doc == nil {
		return tree.Position{}, false
	}
	written, complete := origin.Descend(doc.node, h.aligned(doc.node))
	if !complete || written[len(written)-1].Value.Kind != h.leaf.Kind {
		return tree.Position{}, false
	}
	return doc.snippet.Position(start(written[len(written)-1])), true
}

// inMerges finds a map or list in the strategic merge patches for an object.
func (l *locator) inMerges(id identity, hops []origin.Pair, steps []origin.PathStep) (tree.Position, bool) {
	for _, m := range l.mergesFor(id) {
		at := origin.Pair{Value: m.node}
		for i := 0; i < len(steps) && at.Value != nil; i++ {
			at = below(origin.Unalias(at.Value), steps[i], hops[i].Value)
		}
		if at.Value != nil && at.Value.Kind == hops[len(hops)-1].Value.Kind {
			return m.snippet.Position(start(at)), true
		}
	}
	return tree.Position{}, false
}

// start returns the key of a field, or the node of an element of a list.
func start(p origin.Pair) *yaml.Node {
	if p.Key != nil {
		return p.Key
	}
	return p.Value
}

// inTransformer finds the labels or annotations of a kustomization that created a map of an object.
func (l *locator) inTransformer(object int, document tree.Position, hops []origin.Pair, steps []origin.PathStep) (tree.Position, bool) {
	made := hops[len(hops)-1].Value
	if made.Kind != yaml.MappingNode {
		return tree.Position{}, false
	}
	id := l.identity(object, document)
	for i := 0; i+1 < len(made.Content); i += 2 {
		key, value := made.Content[i], made.Content[i+1]
		f := setField{
			steps: append(steps[:len(steps):len(steps)], origin.PathStep{Key: key.Value}), value: value.Value,
			kind: id.kind, names: id.names, kustomizations: id.kustomizations,
		}
		for _, k := range l.passing(f, document.Path) {
			if pos, ok := setsIn(k, f); ok {
				return pos, true
			}
		}
	}
	return tree.Position{}, false
}

// setsIn returns the map of a kustomization that sets a label or annotation.
func setsIn(k *build.Kustomization, f setField) (tree.Position, bool) {
	if _, ok := setAnnotation(k, f); ok {
		return k.Position("commonAnnotations"), true
	}
	if _, ok := setLabel(k, f); !ok {
		return tree.Position{}, false
	}
	for i, label := range k.Spec.Labels {
		if v, ok := label.Pairs[f.key()]; ok && v == f.value {
			return k.Position("labels", i, "pairs"), true
		}
	}
	return k.Position("commonLabels"), true
}
