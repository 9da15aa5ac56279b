package rules

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/kustomize/padding"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// unmarked finds a scalar that has no line: a rule set it, or it was copied without its line, as kustomize
// does with all annotations of an object.
func (l *locator) unmarked(i int, document tree.Position, path string, part origin.Part) (tree.Position, bool) {
	res, steps := l.resources[i], origin.ParsePath(path)
	hops, complete := origin.Descend(res.YNode(), steps)
	if !complete || len(hops) == 0 || hops[len(hops)-1].Value.Kind != yaml.ScalarNode {
		return tree.Position{}, false
	}
	steps = origin.Canonical(hops, steps)
	id := l.identity(i, document)
	f := setField{steps: steps, value: hops[len(hops)-1].Value.Value, part: part, kind: id.kind, names: id.names, kustomizations: id.kustomizations}
	if !f.refersToNamespace(hops) {
		if pos, ok := l.made(i, document, f); ok {
			return pos, true
		}
	}
	leaf := hops[len(hops)-1].Value
	if pos, ok := l.copied(i, document, hops, steps, func(n *yaml.Node) bool { return sameNode(n, leaf) }); ok {
		return pos, true
	}
	if pos, ok := l.made(i, document, f); ok {
		return pos, true
	}
	if pos, ok := l.replaced(document.Path, f); ok {
		return pos, true
	}
	if pos, ok := l.substituted(document.Path, hops[len(hops)-1].Value); ok {
		return pos, true
	}
	if pos, ok := l.merged(i, document, hops, f.steps); ok {
		return pos, true
	}
	if pos, ok := l.copied(i, document, hops, steps, func(n *yaml.Node) bool { return l.hasVariables() && substituted(n.Value, leaf.Value) }); ok {
		return pos, true
	}
	return l.unset(i, steps, f.value)
}

// refersToNamespace reports whether a field is the namespace of another object, such as that of a binding's
// subject. Kustomize takes it from that object, which it finds by the written namespace, so that `namespace:`
// sets it only when the object's namespace changes (NamespaceTransformer, NameReferenceTransformer).
func (f setField) refersToNamespace(hops []origin.Pair) bool {
	if f.key() != "namespace" || origin.IsIdentity(f.steps) || f.kind == "APIService" || f.kind == "CustomResourceDefinition" || len(hops) < 2 {
		return false
	}
	return origin.ScalarField(hops[len(hops)-2].Value, "name") != "default"
}

// made finds the entry of a kustomization that made a value.
func (l *locator) made(object int, document tree.Position, f setField) (tree.Position, bool) {
	kind, generated := l.resources[object].GetKind(), l.isGenerated(object)
	if pos, ok := l.generatedField(document, kind, f); ok { // a generator may merge into a written object
		return pos, true
	}
	if f.key() == "image" {
		if pos, ok := l.setImage(object, document.Path, f); ok {
			return pos, true
		}
	}
	if pos, ok := l.set(document.Path, f); ok {
		return pos, true
	}
	if generated && len(f.steps) == 2 && f.under("metadata") && f.key() == "name" {
		return l.generatedName(document, kind, f)
	}
	return tree.Position{}, false
}

func (l *locator) isGenerated(object int) bool {
	from := l.origins[object]
	return from != nil && from.ConfiguredIn != ""
}

// substituted finds the source of a `vars` entry whose variable is in the written value.
func (l *locator) substituted(file string, leaf *yaml.Node) (tree.Position, bool) {
	was, at := l.asWritten(leaf)
	if was == nil {
		return tree.Position{}, false
	}
	for _, k := range l.affecting(file) {
		for _, v := range k.Spec.Vars {
			if !strings.Contains(was.Value, "$("+v.Name+")") {
				continue
			}
			source := types.SourceSelector{FieldPath: v.FieldRef.FieldPath}
			source.Kind, source.Name = v.ObjRef.Kind, v.ObjRef.Name
			if pos, ok := l.replacementSource(&source, leaf.Value, nil); ok {
				return pos, true
			}
		}
	}
	if was.Value != leaf.Value && substituted(was.Value, leaf.Value) {
		return at, true
	}
	return tree.Position{}, false
}

// asWritten returns the node that was written on a node's line, whatever its value is now, and its place; nil
// when the node has no line.
func (l *locator) asWritten(n *yaml.Node) (*yaml.Node, tree.Position) {
	r := l.padder.Find(n.Line)
	if r == nil {
		return nil, tree.Position{}
	}
	was, ok := r.Node(n, false)
	if !ok {
		return nil, tree.Position{}
	}
	return was.Value, r.Snippet.Position(was.Value)
}

// merged finds a value in strategic merge patches that lose their lines: those in the configuration of a
// transformer.
func (l *locator) merged(object int, document tree.Position, hops []origin.Pair, steps []origin.PathStep) (tree.Position, bool) {
	leaf, own := hops[len(hops)-1].Value, origin.IsIdentity(steps)
	for _, m := range l.mergesFor(l.identity(object, document)) {
		if own && !(m.renames && steps[len(steps)-1].Key == "name") {
			continue
		}
		node := m.node
		for i, step := range steps {
			if node = below(node, step, hops[i].Value).Value; node == nil {
				break
			}
		}
		if node != nil && sameNode(node, leaf) {
			return m.snippet.Position(node), true
		}
	}
	return tree.Position{}, false
}

func (l *locator) hasVariables() bool {
	return slices.ContainsFunc(l.closure.Files, func(k *build.Kustomization) bool { return len(k.Spec.Vars) > 0 })
}

// copied looks for a value at the same path in the documents that an object's nodes come from, the last read
// first. When no node has a line, it looks in the object's own document.
func (l *locator) copied(object int, document tree.Position, hops []origin.Pair, steps []origin.PathStep, isIt func(*yaml.Node) bool) (tree.Position, bool) {
	node := l.resources[object].YNode()
	if reparsed(node) {
		if all := l.before(); all != nil {
			node = all.Resources()[object].YNode()
		}
	}
	votes := map[*padding.Range]int{}
	l.vote(node, votes)
	own := origin.IsIdentity(steps)
	for i := len(l.padder.Ranges) - 1; i >= 0; i-- {
		r := &l.padder.Ranges[i]
		if own && !r.IsAt(document) || votes[r] == 0 && (len(votes) > 0 || !r.IsAt(document)) {
			continue
		}
		doc, h := r.Written(), newHistory(hops, steps, true)
		written, complete := origin.Descend(doc, h.aligned(doc))
		if complete && isIt(written[len(written)-1].Value) {
			return r.Snippet.Position(written[len(written)-1].Value), true
		}
	}
	return tree.Position{}, false
}
