package render

import "go.yaml.in/yaml/v3"

// plainSources parses the documents of a plain root once more, for positions.
func (r *Renderer) plainSources(root Root) ([]*Source, error) {
	found, problem := r.manifests(root, newTrace())
	if problem != nil {
		return nil, problem
	}
	type parsed struct {
		node    *yaml.Node
		snippet *snippet
	}
	documents := map[*byte]parsed{} // by the text's address
	out := make([]*Source, 0, len(found))
	for _, p := range found {
		id := &p.doc.text[0]
		d, ok := documents[id]
		if !ok {
			d = parsed{p.doc.node(), newSnippet(p.doc.path, string(p.doc.text), p.doc.line)}
			documents[id] = d
		}
		out = append(out, d.snippet.source(itemOf(d.node, p.items), p.doc))
	}
	return out, nil
}

// itemOf descends into the `items:` of lists.
func itemOf(node *yaml.Node, items []int) *yaml.Node {
	for _, i := range items {
		_, list := descend(node, "items")
		_, node = descend(list, i)
	}
	return unalias(node)
}

// source locates an object that a node of the snippet is.
func (s *snippet) source(node *yaml.Node, doc document) *Source {
	if node == nil {
		return &Source{Document: Position{Path: doc.path, Line: doc.line + 1}}
	}
	at := s.position(node)
	document := Position{Path: at.Path, Line: at.Line, Column: at.Column}
	place := func(n *yaml.Node) (Position, bool) {
		if n == nil || n.Line == 0 {
			return Position{}, false
		}
		return s.position(n), true
	}
	return &Source{Document: document, find: finder(node, document, place)}
}
