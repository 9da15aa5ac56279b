package locate

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/origin"
)

// wrote describes the parts of templates that wrote a field, or its nearest parent.
type wrote struct {
	// at is the part of a template that wrote it; literal is set when it is text of the template. For a
	// mapping, a list or a block scalar at is the part that wrote its key, and content the part that wrote its
	// content.
	at, content engine.Place
	literal     bool
	// block is set for a block scalar that begins with text of the template.
	block bool
	// ways are the parts that wrote the characters of the value, each with its callers.
	ways [][]engine.Place
	// missing are the keys on the path to the field that the object does not have; nil if it has the field.
	missing []string
}

// wrote returns the parts of templates that wrote a field, or the given part of its value; "" for all.
func (o *object) wrote(field, part string) (w wrote) {
	d := o.made.Document
	if d == nil || o.node == nil {
		return w
	}
	n, key, missing := nearest(o.rootOf(field))
	all := d.Trace(n)
	w.ways, w.missing = [][]engine.Place{all}, missing
	if missing == nil {
		w.ways = d.TracePart(n, part)
	}
	w.content = inFile(all)
	w.at, w.literal = w.content, missing == nil && d.IsLiteral(n)
	if key == nil {
		return w
	}
	switch at := inFile(d.Trace(key)); {
	case n.Kind != yaml.ScalarNode:
		w.at = at
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && w.content.Literal && at.File == w.content.File:
		w.at, w.block = at, true
	}
	return w
}

// inFile returns the innermost place that is in a file; empty if there is none.
func inFile(places []engine.Place) engine.Place {
	for _, p := range places {
		if p.File != "" {
			return p
		}
	}
	return engine.Place{}
}

// rootOf returns the node and steps to follow for a field: of the document, or of the YAML in a text of it. If
// the lines of such a text cannot be mapped to lines of the document, the steps lead to the text.
func (o *object) rootOf(field string) (*yaml.Node, []origin.PathStep) {
	text, in, ok := origin.CutText(field)
	if !ok || o.node == nil {
		return o.node, origin.ParsePath(field)
	}
	steps := origin.ParsePath(text)
	if n, _, missing := nearest(o.node, steps); missing == nil {
		if root := origin.ParseText(n, strings.Split(o.made.Document.Text, "\n")); root != nil {
			return root, origin.ParsePath(in)
		}
	}
	return o.node, steps
}

// readsOf returns the keys that may decide what templates wrote, or whether they write missing keys, computed
// once.
func (o *object) readsOf(w wrote) *reads {
	if o.made.Document == nil || len(w.ways) == 0 {
		return nil
	}
	var id strings.Builder
	for _, way := range w.ways {
		for _, p := range way {
			fmt.Fprintf(&id, "%d ", p.Node)
		}
		id.WriteString("; ")
	}
	id.WriteString(strings.Join(w.missing, " "))
	known, ok := o.reads[id.String()]
	if !ok {
		known = readsOf(o.made.Document, w.ways, w.missing)
		o.reads[id.String()] = known
	}
	return known
}

// nearest returns the node of a field or, if keys are missing, of the innermost existing node on its path, and
// that node's key; nil for an item of a list.
func nearest(n *yaml.Node, steps []origin.PathStep) (found, key *yaml.Node, missing []string) {
	for len(steps) > 0 {
		next, used := child(n, steps)
		if next == nil {
			missing = []string{}
			for _, s := range steps {
				if !s.Indexed {
					missing = append(missing, s.Key)
				}
			}
			return n, key, missing
		}
		if key = nil; !steps[0].Indexed {
			key = keyOf(n, joined(steps[:used]), next)
		}
		n, steps = next, steps[used:]
	}
	return n, key, nil
}

// joined returns the key that consists of several steps of a field path.
func joined(steps []origin.PathStep) string {
	var keys []string
	for _, s := range steps {
		keys = append(keys, s.Key)
	}
	return strings.Join(keys, ".")
}

// child follows as many steps of a field path as make one key or index.
func child(n *yaml.Node, steps []origin.PathStep) (*yaml.Node, int) {
	if s := steps[0]; s.Indexed && n.Kind == yaml.SequenceNode {
		return below(n, s.Index), 1
	}
	for i := range steps {
		if value := below(n, joined(steps[:i+1])); value != nil {
			return value, i + 1
		}
	}
	return nil, 0
}

// below follows one step, an exact key or an index, into a node; nil if it does not exist.
func below(n *yaml.Node, step any) *yaml.Node {
	key, ok := step.(string)
	if !ok {
		_, value := origin.Child(n, step)
		return origin.Unalias(value)
	}
	if n = origin.Unalias(n); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	found, _ := origin.ChildOf(n, key, 0)
	return found.Value
}
