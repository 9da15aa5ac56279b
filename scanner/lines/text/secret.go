package text

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// mayHoldSecret is a cheap test whether a document may have secret content: the scalar Secret, by YAML's indicators
// around it, secretGenerator, or a line that begins like a separator.
func mayHoldSecret(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasPrefix(line, "---") && !IsSeparator(line) || strings.Contains(line, "secretGenerator") ||
			strings.Contains(line, "Secret") && (isSeveral(line) || hasSecretScalar(line))
	})
}

// hasSecretScalar reports whether a line may have the scalar Secret. Before it is the beginning of the line, an indicator,
// or a tag or anchor; after it the end of the line, an indicator, a comment or an escape.
func hasSecretScalar(line string) bool {
	const scalar, longTag = "Secret", 100 // a longer word before it may be a tag
	isBlank := func(r rune) bool { return r == ' ' || r == '\t' }
	for at := 0; ; {
		next := strings.Index(line[at:], scalar)
		if next < 0 {
			return false
		}
		before, after := strings.TrimRightFunc(line[:at+next], isBlank), strings.TrimLeftFunc(line[at+next+len(scalar):], isBlank)
		at += next + len(scalar)
		word := before[max(0, len(before)-longTag):]
		word = word[strings.LastIndexFunc(word, isBlank)+1:]
		begins := word == "" || !isText(word[len(word)-1]) || len(word) == longTag || strings.ContainsAny(word, "&!")
		if begins && (after == "" || !isText(after[0])) {
			return true
		}
	}
}

// isText reports whether c may be in a plain scalar and is no indicator of YAML.
func isText(c byte) bool {
	return c == '_' || c == '.' || c == '/' || c == '(' || c == ')' || c == ';' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// secretLines returns for each line of a document whether it has secret content; ok is false if the
// text does not parse as one document.
func secretLines(lines []string) (secret []bool, ok bool) {
	odd := func(line string) bool { return strings.HasPrefix(line, "---") && !IsSeparator(line) }
	if slices.ContainsFunc(lines, odd) {
		return nil, false
	}
	text := strings.Join(lines, "\n")
	documents := yaml.NewDecoder(strings.NewReader(text))
	var doc, next yaml.Node
	if err := documents.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	if !errors.Is(documents.Decode(&next), io.EOF) { // another document, after "..."
		return nil, false
	}
	tree.NewParserLines(text).Move(&doc)
	m := marker{make([]bool, len(lines))}
	if len(doc.Content) > 0 {
		m.node(doc.Content[0], len(lines)+1, true)
	}
	return m.secret, true
}

// marker marks lines.
type marker struct{ secret []bool }

// mark marks the lines from one up to and excluding end.
func (m marker) mark(from, end int) {
	for i := max(from, 1); i < end && i <= len(m.secret); i++ {
		m.secret[i-1] = true
	}
}

// node marks the secret lines of a node, which ends before the line end. top is set for the
// top-level node.
func (m marker) node(n *yaml.Node, end int, top bool) {
	switch n.Kind {
	case yaml.MappingNode:
		m.mapping(n, end, top)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			m.node(item, lineAfter(n.Content[i+1:], item, end), false)
		}
	case yaml.ScalarNode: // an inline patch
		if strings.Contains(n.Value, "\n") && slices.ContainsFunc(strings.Split(n.Value, "\n"), secretKind.MatchString) {
			m.mark(n.Line+1, end)
		}
	}
}

func (m marker) mapping(n *yaml.Node, end int, top bool) {
	isSecret := top && origin.ScalarField(n, "kind") == "Secret" || isSecretObject(n)
	target, _ := origin.ChildOf(n, "target", 0)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		after := lineAfter(n.Content[i+2:], key, end)
		switch {
		case isSecret && key.Value == "metadata":
			m.metadata(value, after)
		case isSecret && !slices.Contains([]string{"apiVersion", "kind", "type", "immutable"}, key.Value),
			key.Value == "patch" && origin.ScalarField(target.Value, "kind") == "Secret":
			m.mark(key.Line, after)
		case top && key.Value == "secretGenerator":
			m.generators(value, after)
		default:
			m.node(value, after, false)
		}
	}
}

// isSecretObject reports whether a mapping is a Secret and not a reference to one.
func isSecretObject(n *yaml.Node) bool {
	if origin.ScalarField(n, "kind") != "Secret" {
		return false
	}
	for _, key := range []string{"metadata", "data", "stringData"} {
		if _, ok := origin.ChildOf(n, key, 0); ok {
			return true
		}
	}
	return false
}

// metadata marks annotations, since kubectl stores the whole object in one.
func (m marker) metadata(n *yaml.Node, end int) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "annotations" {
			m.mark(n.Content[i].Line, lineAfter(n.Content[i+2:], n.Content[i], end))
		}
	}
}

// generators marks the literals of secretGenerator.
func (m marker) generators(n *yaml.Node, end int) {
	for i, generator := range n.Content {
		after := lineAfter(n.Content[i+1:], generator, end)
		for j := 0; generator.Kind == yaml.MappingNode && j+1 < len(generator.Content); j += 2 {
			if key := generator.Content[j]; key.Value == "literals" || key.Value == "literal" {
				m.mark(key.Line, lineAfter(generator.Content[j+2:], key, after))
			}
		}
	}
}

// lineAfter returns the line that a node ends before: the line of the next node, or the end, and at
// least the line after its own.
func lineAfter(next []*yaml.Node, n *yaml.Node, end int) int {
	if len(next) > 0 {
		end = next[0].Line
	}
	return max(end, n.Line+1)
}
