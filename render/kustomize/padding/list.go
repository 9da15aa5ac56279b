package padding

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
)

// item is a document of a file or, when that is a list, an item of it.
type item struct {
	snippet *origin.Snippet
	node    *yaml.Node
	value   any
}

// takenApart returns the items of a document that kustomize splits into items: its kind ends with List and it
// has items (kustomize's Factory.inlineAnyEmbeddedLists). ok is false for any other document, and for a list
// that cannot be served item by item.
func takenApart(text string, s *origin.Snippet) (items []item, ok bool) {
	if !strings.Contains(text, "List") || strings.HasPrefix(text, "%") {
		return nil, false
	}
	var doc yaml.Node
	var value map[string]any
	if yaml.NewDecoder(strings.NewReader(text)).Decode(&doc) != nil || len(doc.Content) == 0 || doc.Decode(&value) != nil {
		return nil, false
	}
	return item{s, doc.Content[0], value}.apart()
}

// apart returns the items of an item that is itself a list.
func (i item) apart() (items []item, ok bool) {
	object, _ := i.value.(map[string]any)
	kind, _ := object["kind"].(string)
	values, ok := object["items"].([]any)
	if !ok || len(values) == 0 || !strings.HasSuffix(kind, "List") {
		return nil, false
	}
	list, _ := origin.ChildOf(origin.Unalias(i.node), "items", 0)
	for at, value := range values {
		if _, ok := value.(map[string]any); !ok || at >= len(list.Value.Content) {
			return nil, false
		}
		items = append(items, item{i.snippet, origin.Unalias(list.Value.Content[at]), value})
	}
	return items, true
}

// moveItems writes the items of a file's lists in kustomize's order: after the rest of the file, items of
// inner lists last, each as one line of JSON.
func (p *Padder) moveItems(out *strings.Builder, items []item) {
	for len(items) > 0 {
		next := items[0]
		items = items[1:]
		if inner, ok := next.apart(); ok {
			items = append(items, inner...)
			continue
		}
		data, err := json.Marshal(next.value)
		if err != nil { // kustomize fails at it too
			continue
		}
		out.WriteString("\n---" + strings.Repeat("\n", p.next+1) + string(data) + "\n")
		p.Ranges = append(p.Ranges, Range{Start: p.next, end: p.next + 1, Snippet: next.snippet, text: string(data), item: next.node})
		p.next += 2
	}
}

// addItem adds the nodes of an item as served, mapped to the nodes as written.
func (x *nodeIndex) addItem(served, written origin.Pair) {
	n, w := served.Value, origin.Unalias(written.Value)
	if w == nil || w.Kind != n.Kind {
		return
	}
	if n.Kind == yaml.ScalarNode {
		w = as(w, n.Value)
	}
	x.nodes[nodePlace{n.Line, n.Column, n.Kind, false}] = origin.Pair{Key: written.Key, Value: w}
	if n.Kind != yaml.MappingNode {
		for i := 0; i < min(len(n.Content), len(w.Content)); i++ {
			x.addItem(origin.Pair{Value: n.Content[i]}, origin.Pair{Value: w.Content[i]})
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		field, ok := origin.ChildOf(w, key.Value, 0)
		if !ok {
			continue
		}
		at := nodePlace{key.Line, key.Column, key.Kind, true}
		x.nodes[at], x.values[at] = origin.Pair{Value: field.Key}, field.Value
		x.addItem(origin.Pair{Key: key, Value: n.Content[i+1]}, field)
	}
}

// as returns a scalar with another value: the one that was served, like 16 for 0x10.
func as(written *yaml.Node, value string) *yaml.Node {
	n := *written
	n.Value = value
	return &n
}
