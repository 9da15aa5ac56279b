package plain

import (
	"context"
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// Origins implements Source. It splits the files of a plain root again. A document is parsed for positions only when
// they are requested: few of thousands of objects have findings.
func (r *Source) Origins(_ context.Context, result *render.Result) ([]*origin.Origin, error) {
	found, problem := r.manifests(result.Root, tree.NewTrace())
	if problem != nil {
		return nil, problem
	}
	files := map[string][]func() parsedDocument{}
	out := make([]*origin.Origin, 0, len(found))
	for _, p := range found {
		if files[p.file] == nil {
			documents, err := r.parsedDocuments(p.file)
			if err != nil {
				return nil, err
			}
			files[p.file] = documents
		}
		parse := files[p.file][p.document]
		out = append(out, origin.New(sync.OnceValue(func() origin.Places { return parse().places(p.Items) })))
	}
	return out, nil
}

// parsedDocument is a document with the positions of its nodes.
type parsedDocument struct {
	document tree.Document
	node     *yaml.Node
	snippet  *origin.Snippet
}

// parsedDocuments returns the documents of a file, each of which is parsed when it is first needed.
func (r *Source) parsedDocuments(real string) ([]func() parsedDocument, error) {
	data, _, err := r.tree.Load(real, tree.NewTrace())
	if err != nil {
		return nil, err
	}
	docs, _ := tree.SplitDocuments(real, data) // an error would have failed the root
	out := make([]func() parsedDocument, len(docs))
	for i, doc := range docs {
		out[i] = sync.OnceValue(func() parsedDocument {
			node := doc.Node()
			if r.last {
				origin.KeepLast(node)
			}
			return parsedDocument{doc, node, origin.NewSnippet(doc.Path, string(doc.Text), doc.Line)}
		})
	}
	return out, nil
}

// places returns the places of an object in the document. items are the indexes in nested lists that lead to it.
func (d parsedDocument) places(items []int) origin.Places {
	node := itemOf(d.node, items)
	if node == nil {
		return origin.Places{Document: tree.Position{Path: d.document.Path, Line: d.document.Line + 1}}
	}
	at := d.snippet.Position(node)
	document := tree.Position{Path: at.Path, Line: at.Line, Column: at.Column}
	place := func(n *yaml.Node) (tree.Position, bool) {
		if n == nil || n.Line == 0 {
			return tree.Position{}, false
		}
		return d.snippet.Position(n), true
	}
	find := wholly(origin.Finder(node, document, place))
	if len(items) == 0 {
		return origin.Places{Document: document, Find: find}
	}
	list := wholly(origin.Finder(itemOf(d.node, items[:len(items)-1]), document, place))
	return origin.Places{Document: document, Find: func(path string, part origin.Part) origin.Place {
		at := find(path, part)
		if told := list(path, part); !at.Found() && origin.IsIdentity(origin.ParsePath(path)) && told.Found() && len(origin.ParsePath(path)) == 1 {
			return origin.Place{Position: told.Position, Evidence: origin.Inferred} // see expand
		}
		return at
	}}
}

// itemOf returns the node at indexes in the `items:` of nested lists.
func itemOf(node *yaml.Node, items []int) *yaml.Node {
	for _, i := range items {
		_, list := origin.Child(node, "items")
		_, node = origin.Child(list, i)
	}
	return origin.Unalias(node)
}

// wholly converts a function that finds positions of values to one that finds places.
func wholly(find func(string) (tree.Position, bool)) func(string, origin.Part) origin.Place {
	return func(path string, _ origin.Part) origin.Place {
		pos, found := find(path)
		if !found {
			return origin.Place{Position: pos}
		}
		return origin.Place{Position: pos, Evidence: origin.Marked}
	}
}
