package render

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
)

// unmarked finds a scalar that has no line: set by a rule, or lost although it
// was copied, as kustomize does with all annotations of an object.
func (l *locator) unmarked(i int, origin *resource.Origin, document Position, path string, part Part) (Position, bool) {
	res, steps := l.resources[i], parsePath(path)
	hops, complete := descendPath(res.YNode(), steps)
	if !complete || len(hops) == 0 || hops[len(hops)-1].value.Kind != yaml.ScalarNode {
		return Position{}, false
	}
	steps = canonical(hops, steps)
	f := setField{steps: steps, value: hops[len(hops)-1].value.Value, part: part, name: res.GetName()}
	if origin != nil && origin.ConfiguredIn != "" {
		if pos, ok := l.generatedField(document, res.GetKind(), f); ok {
			return pos, true
		}
	}
	if f.key() == "image" {
		if pos, ok := l.setImage(i, document.Path, f); ok {
			return pos, true
		}
	}
	if pos, ok := l.set(document.Path, f); ok {
		return pos, true
	}
	if pos, ok := l.copied(i, document, hops[len(hops)-1].value, steps); ok {
		return pos, true
	}
	if pos, ok := l.replaced(document.Path, f); ok {
		return pos, true
	}
	return l.unset(i, steps, f.value)
}

// copied looks for the same value at the same path in the documents an object
// was made of, the last to be read first; when none of its nodes tells which
// they are, in the document of its own.
func (l *locator) copied(object int, document Position, leaf *yaml.Node, steps []fieldStep) (Position, bool) {
	node := l.resources[object].YNode()
	if reparsed(node) {
		if all := l.before(); all != nil {
			node = all.Resources()[object].YNode()
		}
	}
	votes := map[*padRange]int{}
	l.vote(node, votes)
	for i := len(l.padder.ranges) - 1; i >= 0; i-- {
		r := &l.padder.ranges[i]
		if votes[r] == 0 && (len(votes) > 0 || r.snippet.path != document.Path || r.top() != document) {
			continue
		}
		var doc yaml.Node
		if yaml.NewDecoder(strings.NewReader(r.text)).Decode(&doc) != nil || len(doc.Content) == 0 {
			continue
		}
		hops, complete := descendPath(doc.Content[0], steps)
		if complete && sameNode(hops[len(hops)-1].value, leaf) {
			return r.snippet.position(hops[len(hops)-1].value), true
		}
	}
	return Position{}, false
}
