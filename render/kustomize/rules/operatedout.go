package rules

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// operatedOut returns the elements that JSON6902 operations removed from a list, the last first. The operations
// are applied to the list of the build without such patches, since each index is that of the list at its time.
func (l *locator) operatedOut(object int, document tree.Position, steps []origin.PathStep) []origin.Removal {
	res := l.resources[object]
	if !reparsed(res.YNode()) {
		return nil
	}
	id := l.identity(object, document)
	list := operatedList{steps: steps}
	if all := l.before(); all != nil {
		list.elements = elementsAt(all.Resources()[object].YNode(), steps)
	}
	for _, k := range slices.Backward(id.kustomizations) {
		for _, o := range l.patchesIn(k).operations {
			if selects(o.target, id) {
				list.operate(&o)
			}
		}
	}
	slices.Reverse(list.removed)
	return list.removed
}

// operatedList is a list during JSON6902 operations. An element is nil when it is not known.
type operatedList struct {
	steps    []origin.PathStep
	elements []any
	removed  []origin.Removal
}

// operate applies an operation. The fields within elements stay as they are.
func (l *operatedList) operate(o *operation) {
	switch o.op {
	case "remove":
		l.leaves(o, o.path)
	case "move":
		if token, ok := l.token(o.from); ok && l.has(o.path) {
			l.insert(o.path, l.take(token))
		} else {
			l.leaves(o, o.from)
			l.insert(o.path, nil)
		}
	case "copy":
		l.insert(o.path, l.at(o.from))
	case "add":
		l.insert(o.path, jsonOf(o.value.Value))
	case "replace":
		if token, ok := l.token(o.path); ok && l.has(o.path) {
			l.take(token)
			l.insert(o.path, jsonOf(o.value.Value))
		}
	}
	if rest, covers := prefixOf(o.path, l.steps); covers && o.op != "test" {
		l.elements = elementsAt(o.value.Value, rest) // none of an operation without a value
	}
}

// has reports whether a pointer leads to an element of the list.
func (l *operatedList) has(path []string) bool {
	_, ok := l.token(path)
	return ok
}

// token returns the last token of a pointer to an element of the list.
func (l *operatedList) token(path []string) (token string, ok bool) {
	last := len(l.steps)
	if len(path) != last+1 || !slices.Equal(path[:last], tokensOf(l.steps)) {
		return "", false
	}
	return path[last], true
}

// leaves records that an operation removes an element from the list.
func (l *operatedList) leaves(o *operation, path []string) {
	if token, ok := l.token(path); ok {
		l.removed = append(l.removed, origin.Removal{Element: l.take(token), Position: origin.Start(o.snippet.Position(o.node))})
	}
}

// take removes an element and returns it.
func (l *operatedList) take(token string) any {
	i, ok := indexIn(token, len(l.elements))
	if !ok {
		return nil
	}
	element := l.elements[i]
	l.elements = slices.Delete(l.elements, i, i+1)
	return element
}

// at returns the element that a pointer leads to.
func (l *operatedList) at(path []string) any {
	token, _ := l.token(path)
	if i, ok := indexIn(token, len(l.elements)); ok {
		return l.elements[i]
	}
	return nil
}

// insert adds an element if the pointer leads to one of the list.
func (l *operatedList) insert(path []string, element any) {
	token, ok := l.token(path)
	if token == "-" {
		token = "-1"
	}
	if i, inside := indexIn(token, len(l.elements)+1); ok && inside {
		l.elements = slices.Insert(l.elements, i, element)
	}
}

// indexIn returns the index that a token is in a list of a length: one below 0 counts from the end, as in the library that
// kustomize uses (github.com/evanphx/json-patch, SupportNegativeIndices).
func indexIn(token string, length int) (i int, ok bool) {
	i, err := strconv.Atoi(token)
	if i < 0 {
		i += length
	}
	return i, err == nil && i >= 0 && i < length
}

// elementsAt returns the elements of the list at a path below a node.
func elementsAt(node *yaml.Node, steps []origin.PathStep) (elements []any) {
	hops, complete := origin.Descend(node, steps)
	if len(hops) > 0 {
		node = hops[len(hops)-1].Value
	}
	if node = origin.Unalias(node); !complete || node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	for _, item := range node.Content {
		elements = append(elements, jsonOf(item))
	}
	return elements
}

// jsonOf returns the value of a node; nil for no node.
func jsonOf(node *yaml.Node) any {
	if node == nil {
		return nil
	}
	return origin.JSONValue(origin.Unalias(node))
}

func tokensOf(steps []origin.PathStep) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Key)
	}
	return out
}
