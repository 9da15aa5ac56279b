package strictyaml

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// letters are the booleans of YAML 1.1 that only kubectl reads as booleans.
const letters = "yYnN"

// withQuotedLetters returns the text with quotes around each plain y and n.
func (d *Document) withQuotedLetters() string {
	if !strings.ContainsAny(d.text, letters) {
		return d.text
	}
	lines := lineStarts(d.text)
	var found []int
	var look func(*yaml.Node)
	look = func(n *yaml.Node) {
		if at, ok := d.letter(n, lines); ok {
			found = append(found, at)
		}
		for _, child := range n.Content {
			look(child)
		}
	}
	look(d.top)
	slices.SortFunc(found, func(a, b int) int { return cmp.Compare(b, a) })
	text := d.text
	for _, at := range slices.Compact(found) {
		text = text[:at] + `"` + text[at:at+1] + `"` + text[at+1:]
	}
	return text
}

// lineStarts returns the positions of the lines of a text, which the parser of YAML ends at more characters than a line
// feed.
func lineStarts(text string) []int {
	starts := []int{0}
	for i, c := range text {
		switch {
		case c == '\r' && strings.HasPrefix(text[i+1:], "\n"):
		case strings.ContainsRune("\n\r\u0085\u2028\u2029", c):
			starts = append(starts, i+utf8.RuneLen(c))
		}
	}
	return starts
}

// letter returns the position of a node in the text if it is a plain y or n. lines are the positions of
// lines.
func (d *Document) letter(n *yaml.Node, lines []int) (at int, ok bool) {
	if n.Kind != yaml.ScalarNode || n.Style != 0 || len(n.Value) != 1 || !strings.Contains(letters, n.Value) || n.Line < 1 || n.Line > len(lines) {
		return 0, false
	}
	at = lines[n.Line-1]
	column := 1
	for i := range d.text[at:] {
		if column == n.Column {
			at += i
			break
		}
		column++
	}
	if rest, anchored := strings.CutPrefix(d.text[at:], "&"+n.Anchor); anchored && n.Anchor != "" {
		at = len(d.text) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
	}
	return at, strings.HasPrefix(d.text[at:], n.Value)
}
