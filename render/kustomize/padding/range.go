package padding

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Range is the range of lines that a document was moved to.
type Range struct {
	Start   int // lines before the document in the served text
	end     int // the last line
	Snippet *origin.Snippet
	text    string
	item    *yaml.Node // the item of a list whose JSON is text; nil for a document
	parsed  *yaml.Node // the parsed text, on first use; without content if it is no YAML
	index   *nodeIndex
}

// nodeIndex finds the nodes of a document by their places in the served text.
type nodeIndex struct {
	nodes map[nodePlace]origin.Pair
	// values are the values of mappings, by the places of their keys.
	values map[nodePlace]*yaml.Node
}

type nodePlace struct {
	line, column int
	kind         yaml.Kind
	key          bool
}

// Node returns the node in the file from which kustomize built a node, served as a key or as a value.
func (r *Range) Node(n *yaml.Node, key bool) (origin.Pair, bool) {
	h, ok := r.nodes().nodes[nodePlace{n.Line - r.Start, n.Column, n.Kind, key}]
	return h, ok
}

// ValueOf returns the value written at a key that kustomize built; nil if there is none.
func (r *Range) ValueOf(key *yaml.Node) *yaml.Node {
	return r.nodes().values[nodePlace{key.Line - r.Start, key.Column, key.Kind, true}]
}

// Top returns the first line of content of the document.
func (r *Range) Top() tree.Position {
	doc := r.Written()
	if doc == nil {
		return tree.Position{Path: r.Snippet.Path, Line: r.Snippet.Line + 1}
	}
	pos := r.Snippet.Position(doc)
	return tree.Position{Path: pos.Path, Line: pos.Line, Column: pos.Column}
}

// IsAt reports whether this is the document that begins at a position.
func (r *Range) IsAt(p tree.Position) bool { return r.Snippet.Path == p.Path && r.Top() == p }

func (r *Range) nodes() *nodeIndex {
	if r.index != nil {
		return r.index
	}
	r.index = &nodeIndex{nodes: map[nodePlace]origin.Pair{}, values: map[nodePlace]*yaml.Node{}}
	top := r.served()
	switch {
	case top == nil:
	case r.item != nil:
		r.index.addItem(origin.Pair{Value: top}, origin.Pair{Value: r.item})
	default:
		r.index.add(origin.Pair{Value: top}, map[*yaml.Node]bool{})
	}
	return r.index
}

// Written returns the document or item in the file; nil when it is no YAML, or empty.
func (r *Range) Written() *yaml.Node {
	if r.item != nil {
		return r.item
	}
	return r.served()
}

// served returns the document that kustomize read; nil when it is no YAML, or empty.
func (r *Range) served() *yaml.Node {
	if r.parsed == nil {
		r.parsed = &yaml.Node{}
		var doc yaml.Node
		if yaml.NewDecoder(strings.NewReader(r.text)).Decode(&doc) == nil {
			r.parsed = &doc
		}
	}
	if len(r.parsed.Content) == 0 {
		return nil
	}
	return r.parsed.Content[0]
}

func (x *nodeIndex) add(h origin.Pair, seen map[*yaml.Node]bool) {
	n := h.Value
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	x.nodes[nodePlace{n.Line, n.Column, n.Kind, false}] = h
	if n.Kind != yaml.MappingNode {
		for _, child := range n.Content {
			x.add(origin.Pair{Value: child}, seen)
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := nodePlace{key.Line, key.Column, key.Kind, true}
		x.nodes[at], x.values[at] = origin.Pair{Value: key}, origin.Unalias(n.Content[i+1])
		x.add(origin.Pair{Key: key, Value: n.Content[i+1]}, seen)
	}
}
