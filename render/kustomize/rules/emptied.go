package rules

import (
	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// maxEmptied limits how many keys of a map that is now empty are followed.
const maxEmptied = 64

// emptied returns the keys that were removed from a map that is now empty, or that kustomize then left out: by
// a `null` or `$patch` of a strategic merge patch, or a JSON6902 operation.
func (l *locator) emptied(object int, document tree.Position, path string) []origin.Removal {
	steps := origin.ParsePath(path)
	hops, complete := origin.Descend(l.resources[object].YNode(), steps)
	if complete && !isEmptyMap(hops) {
		return nil
	}
	var out []origin.Removal
	for _, e := range l.entries(l.identity(object, document), origin.Canonical(hops, steps)) {
		if at, ok := l.taken(object, document, origin.AppendKey(path, e.Key.Value)); ok {
			out = append(out, origin.Removal{Element: map[string]any{e.Key.Value: origin.JSONValue(e.Value)}, Position: at})
		}
	}
	return out
}

func isEmptyMap(hops []origin.Pair) bool {
	last := len(hops) - 1
	return last >= 0 && hops[last].Value.Kind == yaml.MappingNode && len(hops[last].Value.Content) == 0
}

// entries returns the entries of a map in the documents of an object, without nulls.
func (l *locator) entries(id identity, steps []origin.PathStep) []origin.Pair {
	var out []origin.Pair
	for _, doc := range l.documents(id) {
		hops, complete := origin.Descend(doc, steps)
		if !complete || len(hops) == 0 || hops[len(hops)-1].Value.Kind != yaml.MappingNode {
			continue
		}
		content := hops[len(hops)-1].Value.Content
		for i := 0; i+1 < len(content) && len(out) < maxEmptied; i += 2 {
			if value := origin.Unalias(content[i+1]); value.Tag != "!!null" && content[i].Value != origin.Directive {
				out = append(out, origin.Pair{Key: content[i], Value: value})
			}
		}
	}
	return out
}

// taken returns the place of the patch that removed a field.
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
