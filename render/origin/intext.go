package origin

import (
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/tree"
)

// textMark separates the path of a text from the path of a field in it. It separates steps, as a dot does.
const textMark = "\x00"

// InText returns the path of a field in the YAML text that is the value of another field.
func InText(text, field string) string { return text + textMark + field }

// CutText splits a path of InText; ok is false for a field that is in no text.
func CutText(path string) (text, field string, ok bool) { return strings.Cut(path, textMark) }

// fieldOfText returns the value of a field of a text.
func fieldOfText(text any, path string) (value any, found bool) {
	s, _ := text.(string)
	content := map[string]any{}
	if s == "" || sigsyaml.Unmarshal([]byte(s), &content) != nil {
		return nil, false
	}
	return Field(content, path)
}

// ParseText parses the YAML text of a literal block and gives its nodes their positions in the file, whose
// lines are given; it returns nil for any other node.
func ParseText(n *yaml.Node, lines []string) *yaml.Node {
	if n == nil || n.Kind != yaml.ScalarNode || n.Style&yaml.LiteralStyle == 0 {
		return nil
	}
	shift, found := 0, false
	for i, line := range strings.Split(strings.TrimRight(n.Value, "\n"), "\n") {
		if n.Line+i >= len(lines) {
			return nil
		}
		before, ok := strings.CutSuffix(strings.TrimSuffix(lines[n.Line+i], "\r"), line)
		switch {
		case strings.TrimSpace(line) == "":
		case !ok || strings.TrimSpace(before) != "" || found && len(before) != shift:
			return nil
		default:
			shift, found = len(before), true
		}
	}
	doc := tree.ParseFile([]byte(n.Value))
	if doc != nil {
		move(doc, n.Line, shift)
	}
	return doc
}

// move moves a node and all nodes in it.
func move(n *yaml.Node, lines, columns int) {
	n.Line, n.Column = n.Line+lines, n.Column+columns
	for _, inner := range n.Content {
		move(inner, lines, columns)
	}
}
