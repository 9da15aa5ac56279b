package rules

import (
	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// maxEmptied bounds how many keys of a map that is empty now are followed.
const maxEmptied = 64

// emptied finds what took a key out of a map that is empty since, or that kustomize then left
// out: a `null` or `$patch` of a strategic merge patch, or a JSON6902 operation.
func (l *locator) emptied(object int, document tree.Position, path string) (tree.Position, bool) {
	steps := origin.ParsePath(path)
	hops, complete := origin.Descend(l.resources[object].YNode(), steps)
	if complete && !isEmptyMap(hops) {
		return tree.Position{}, false
	}
	for _, key := range l.keys(l.identity(object, document), origin.Canonical(hops, steps)) {
		if at, ok := l.taken(object, document, origin.AppendKey(path, key)); ok {
			return at, true
		}
	}
	return tree.Position{}, false
}

func isEmptyMap(hops []origin.Pair) bool {
	last := len(hops) - 1
	return last >= 0 && hops[last].Value.Kind == yaml.MappingNode && len(hops[last].Value.Content) == 0
}

// keys are those of a map in the documents of an object.
func (l *locator) keys(id identity, steps []origin.PathStep) []string {
	var keys []string
	for _, doc := range l.documents(id) {
		hops, complete := origin.Descend(doc, steps)
		if !complete || len(hops) == 0 || hops[len(hops)-1].Value.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i < len(hops[len(hops)-1].Value.Content) && len(keys) < maxEmptied; i += 2 {
			keys = append(keys, hops[len(hops)-1].Value.Content[i].Value)
		}
	}
	return keys
}

// taken finds what took a field away.
func (l *locator) taken(object int, document tree.Position, path string) (tree.Position, bool) {
	if at, ok := l.removed(object, document, path); ok {
		return at, true
	}
	node, steps := l.resources[object].YNode(), origin.ParsePath(path)
	hops, complete := origin.Descend(node, steps)
	if complete || !reparsed(node) {
		return tree.Position{}, false
	}
	h := newHistory(hops, origin.Canonical(hops, steps), false)
	at, _, _ := l.operated(&h, l.identity(object, document))
	return at, h.taken
}
