package proof

import (
	"encoding/json"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// withoutRemoval undoes the removal of a field: a `null` or `$patch` of a strategic merge patch, or an
// operation of a JSON6902 patch.
func (f sourceFile) withoutRemoval(at tree.Position) ([]change, string) {
	if text, ok := undone(tree.Normalize(f.data), at.Line, at.Column); ok {
		return []change{{path: f.path, data: []byte(text)}}, ""
	}
	var out []change
	for _, text := range undoneEach(tree.Normalize(f.data), at) {
		out = append(out, change{path: f.path, data: []byte(text)})
	}
	if len(out) == 0 {
		return nil, "nothing at " + at.String() + " takes anything away"
	}
	return out, ""
}

// undoneEach returns a document once for each removal of the JSON6902 patch at a place, with that removal
// undone. The patch is a string on one line, so lines do not distinguish its operations.
func undoneEach(text string, at tree.Position) []string {
	var doc, patch yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil {
		return nil
	}
	tree.NewParserLines(text).Move(&doc)
	way := wayTo(&doc, at.Line, at.Column)
	if len(way) == 0 || yaml.Unmarshal([]byte(way[len(way)-1].Value), &patch) != nil || len(patch.Content) == 0 {
		return nil
	}
	var out []string
	for _, op := range patch.Content[0].Content {
		was := *op
		if !undoOperation(op) {
			continue
		}
		data, err := json.Marshal(origin.JSONValue(patch.Content[0]))
		*op = was
		if err != nil {
			continue
		}
		holder := way[len(way)-1]
		written := *holder
		holder.SetString(string(data))
		if changed, err := yaml.Marshal(&doc); err == nil {
			out = append(out, string(changed))
		}
		*holder = written
	}
	return out
}

// undone returns YAML documents with the removal at a place undone.
func undone(text string, line, column int) (string, bool) {
	chunks, done := tree.SplitChunks(text), false
	var out []string
	for _, c := range chunks {
		if inside := line - c.Line; !done && inside >= 1 && inside <= strings.Count(c.Text, "\n")+1 {
			if written, ok := undoneIn(c.Text, inside, column); ok {
				c.Text, done = written, true
			}
		}
		out = append(out, strings.TrimRight(c.Text, "\n"))
	}
	return strings.Join(out, "\n---\n") + "\n", done
}

func undoneIn(text string, line, column int) (string, bool) {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return "", false
	}
	tree.NewParserLines(text).Move(&doc)
	way := wayTo(&doc, line, column)
	if way == nil || !undo(way) {
		if !undoneInside(&doc, strings.Split(text, "\n"), line, column) {
			return "", false
		}
	}
	if first := strings.TrimSpace(text); strings.HasPrefix(first, "[") || strings.HasPrefix(first, "{") {
		data, err := json.Marshal(origin.JSONValue(doc.Content[0]))
		return string(data), err == nil
	}
	data, err := yaml.Marshal(&doc)
	return string(data), err == nil
}

// wayTo returns the nodes from a document to the innermost one that begins at a place.
func wayTo(n *yaml.Node, line, column int) []*yaml.Node {
	for _, child := range n.Content {
		if way := wayTo(child, line, column); way != nil {
			return append([]*yaml.Node{n}, way...)
		}
	}
	if n.Kind != yaml.DocumentNode && n.Line == line && n.Column == column {
		return []*yaml.Node{n}
	}
	return nil
}

// undoneInside undoes a removal in a text of the document.
func undoneInside(n *yaml.Node, lines []string, line, column int) bool {
	if n.Kind == yaml.ScalarNode {
		spelling := origin.SpellingOf(n, lines)
		if spelling == nil {
			return false
		}
		line, column, ok := spelling.LineAt(tree.Position{Line: line, Column: column})
		if !ok {
			return false
		}
		text, ok := undone(n.Value, line, column)
		if ok {
			n.Value = text
		}
		return ok
	}
	for _, child := range n.Content {
		if undoneInside(child, lines, line, column) {
			return true
		}
	}
	return false
}

// undo undoes the removal by the last node of a path.
func undo(way []*yaml.Node) bool {
	if len(way) < 2 {
		return false
	}
	node, parent := way[len(way)-1], way[len(way)-2]
	if origin.ScalarField(node, "op") != "" {
		return undoOperation(node)
	}
	if parent.Kind != yaml.MappingNode {
		return false
	}
	if origin.ScalarField(parent, "op") != "" {
		return undoOperation(parent)
	}
	for i := 0; i+1 < len(parent.Content); i += 2 {
		key, value := parent.Content[i], parent.Content[i+1]
		if key != node && value != node {
			continue
		}
		switch {
		case key.Value == origin.Directive && (value.Value == "delete" || len(parent.Content) == 2):
			return detach(way[:len(way)-1])
		case key.Value == origin.Directive, origin.Unalias(value).ShortTag() == "!!null":
			drop(parent, i)
			return len(parent.Content) > 0 || detach(way[:len(way)-1])
		}
	}
	return false
}

// undoOperation replaces an operation that removes a value with one that moves it to its own place.
func undoOperation(op *yaml.Node) bool {
	kept := yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: op.Style}
	from := "path"
	switch origin.ScalarField(op, "op") {
	case "remove":
	case "move":
		from = "from"
	default:
		return false
	}
	add := func(key, value string) {
		for _, text := range []string{key, value} {
			kept.Content = append(kept.Content, &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: text})
		}
	}
	add("op", "move")
	add("from", origin.ScalarField(op, from))
	add("path", origin.ScalarField(op, from))
	*op = kept
	return true
}

// detach removes the last node of a path from its parent, and the parent too when it becomes empty: an empty
// list in a patch would empty the object's. A document stays.
func detach(way []*yaml.Node) bool {
	for len(way) > 1 {
		node, parent := way[len(way)-1], way[len(way)-2]
		for i, child := range parent.Content {
			if child != node {
				continue
			}
			switch parent.Kind {
			case yaml.MappingNode:
				drop(parent, i-i%2)
			case yaml.SequenceNode:
				parent.Content = append(parent.Content[:i:i], parent.Content[i+1:]...)
			default:
				return false
			}
			break
		}
		if len(parent.Content) > 0 {
			return true
		}
		way = way[:len(way)-1]
	}
	return false
}

func drop(mapping *yaml.Node, i int) {
	mapping.Content = append(mapping.Content[:i:i], mapping.Content[i+2:]...)
}
