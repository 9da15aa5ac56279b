package render

import (
	"context"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Origins implements SourceOf. It finds the documents of a plain root again. One is parsed for its
// positions when they are asked for: of thousands of objects few have findings.
func (r *plainSource) Origins(_ context.Context, result *Result) ([]*Source, error) {
	found, problem := r.manifests(result.Root, newTrace())
	if problem != nil {
		return nil, problem
	}
	files := map[string][]func() parsedDocument{}
	out := make([]*Source, 0, len(found))
	for _, p := range found {
		if files[p.file] == nil {
			documents, err := parsedDocuments(r.tree, p.file)
			if err != nil {
				return nil, err
			}
			files[p.file] = documents
		}
		parse := files[p.file][p.document]
		out = append(out, newSource(sync.OnceValue(func() places { return parse().places(p.items) })))
	}
	return out, nil
}

// parsedDocument is a document with the positions of its nodes.
type parsedDocument struct {
	document document
	node     *yaml.Node
	snippet  *snippet
}

// parsedDocuments are the documents of a file, each parsed when first needed.
func parsedDocuments(t *tree, real string) ([]func() parsedDocument, error) {
	data, _, err := t.load(real, newTrace())
	if err != nil {
		return nil, err
	}
	docs, _ := splitDocuments(real, data) // a broken separator has failed the root
	out := make([]func() parsedDocument, len(docs))
	for i, doc := range docs {
		out[i] = sync.OnceValue(func() parsedDocument {
			return parsedDocument{doc, doc.node(), newSnippet(doc.path, string(doc.text), doc.line)}
		})
	}
	return out, nil
}

// places locates the object at items of the document's lists.
func (d parsedDocument) places(items []int) places {
	node := itemOf(d.node, items)
	if node == nil {
		return places{document: Position{Path: d.document.path, Line: d.document.line + 1}}
	}
	at := d.snippet.position(node)
	document := Position{Path: at.Path, Line: at.Line, Column: at.Column}
	place := func(n *yaml.Node) (Position, bool) {
		if n == nil || n.Line == 0 {
			return Position{}, false
		}
		return d.snippet.position(n), true
	}
	find := wholly(finder(node, document, place))
	if len(items) == 0 {
		return places{document: document, find: find}
	}
	list := wholly(finder(itemOf(d.node, items[:len(items)-1]), document, place))
	return places{document: document, find: func(path string, part Part) Place {
		at := find(path, part)
		if told := list(path, part); !at.Found() && identifies(parsePath(path)) && told.Found() && len(parsePath(path)) == 1 {
			return Place{Position: told.Position, Evidence: Inferred} // see expand
		}
		return at
	}}
}

// itemOf descends into the `items:` of lists.
func itemOf(node *yaml.Node, items []int) *yaml.Node {
	for _, i := range items {
		_, list := descend(node, "items")
		_, node = descend(list, i)
	}
	return unalias(node)
}

// wholly finds values that one line wrote.
func wholly(find func(string) (Position, bool)) func(string, Part) Place {
	return func(path string, _ Part) Place {
		pos, found := find(path)
		if !found {
			return Place{Position: pos}
		}
		return Place{Position: pos, Evidence: Marked}
	}
}
