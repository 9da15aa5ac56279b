package release

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Node parses the document for the positions of its fields; nil if it is empty or invalid.
func (d *Document) Node() *yaml.Node {
	node := tree.ParseFile([]byte(d.Text))
	if node != nil {
		origin.KeepLast(node) // as Content does
	}
	return node
}

// Content decodes the document; it is nil if the document is no object.
func (d *Document) Content() map[string]any {
	if d.content == nil {
		d.content = map[string]any{}
		if text, err := sigsyaml.YAMLToJSON([]byte(d.Text)); err == nil {
			d.content = (&render.Object{JSON: text}).Content()
		}
	}
	return d.content
}

// Trace returns the parts of templates that wrote a node of the document, the innermost first. For a scalar it
// traces the beginning of its value, without quotes and other marks.
func (d *Document) Trace(n *yaml.Node) []engine.Place {
	offset := d.offset(n)
	if offset < 0 {
		return nil
	}
	return d.File.At(d.Offset + offset).Places
}

// maxTraced limits how many characters of a value are traced.
const maxTraced = 8

// TracePart returns the traces of the characters of a part of a scalar's value, each trace once.
func (d *Document) TracePart(n *yaml.Node, part string) (ways [][]engine.Place) {
	from := d.offset(n)
	if from < 0 || n.Kind != yaml.ScalarNode || part == "" {
		return [][]engine.Place{d.Trace(n)}
	}
	if at := strings.LastIndex(d.Text[from:min(from+len(n.Value), len(d.Text))], part); at > 0 {
		from += at
	}
	trace := func(offset int) {
		places := d.File.At(d.Offset + offset).Places
		if !slices.ContainsFunc(ways, func(known []engine.Place) bool { return slices.EqualFunc(known, places, samePart) }) {
			ways = append(ways, places)
		}
	}
	last := min(from+len(part), len(d.Text)) - 1
	trace(from)
	trace(last)
	if len(ways) > 1 { // several actions wrote it
		step := (last-from)/maxTraced + 1
		for offset := from + step; offset < last; offset += step {
			trace(offset)
		}
	}
	return ways
}

func samePart(a, b engine.Place) bool { return a.Node == b.Node }

// IsLiteral reports whether all of a scalar of the document is literal text of a template, without the output
// of an action.
func (d *Document) IsLiteral(n *yaml.Node) bool {
	from := d.offset(n)
	if from < 0 || n.Kind != yaml.ScalarNode {
		return false
	}
	first, last := d.File.At(d.Offset+from).Places, d.File.At(d.Offset+d.last(from, n.Value)).Places
	return len(first) > 0 && len(last) > 0 && first[0].File != "" && first[0].SameText(last[0])
}

// last returns the approximate offset of the last character of a value that begins at from: the text may be
// longer because of escapes and indentation.
func (d *Document) last(from int, value string) int {
	to := from
	for range strings.Count(strings.TrimRight(value, "\n"), "\n") {
		next := strings.IndexByte(d.Text[to:], '\n')
		if next < 0 {
			break
		}
		to += next + 1
	}
	if to > from {
		line, _, _ := strings.Cut(d.Text[to:], "\n")
		to += max(len(line)-1, 0)
	}
	return min(max(to, from+max(len(value)-1, 0)), len(d.Text)-1)
}

// offset returns where the value of a node begins in the text.
func (d *Document) offset(n *yaml.Node) int {
	at := lineStart(d.Text, n.Line)
	line, _, _ := strings.Cut(d.Text[at:], "\n")
	for column := 1; column < n.Column && line != ""; column++ {
		_, size := utf8.DecodeRuneInString(line)
		at, line = at+size, line[size:]
	}
	if n.Kind != yaml.ScalarNode {
		return at
	}
	switch n.Style & (yaml.LiteralStyle | yaml.FoldedStyle | yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle) {
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		return d.past(at, n, `"'`)
	case yaml.LiteralStyle, yaml.FoldedStyle:
		return d.blockStart(at)
	}
	if n.Value == "" {
		return at
	}
	return d.past(at, n, "")
}

// past returns the offset after the tag or anchor of a scalar and an opening quote.
func (d *Document) past(at int, n *yaml.Node, quotes string) int {
	for at < len(d.Text) && strings.ContainsRune("!&", rune(d.Text[at])) && (n.Anchor != "" || n.Style&yaml.TaggedStyle != 0) {
		end := strings.IndexAny(d.Text[at:], " \t\n")
		if end < 0 {
			return at
		}
		at += end + len(d.Text[at+end:]) - len(strings.TrimLeft(d.Text[at+end:], " \t\n"))
	}
	if at+1 < len(d.Text) && n.Value != "" && strings.IndexByte(quotes, d.Text[at]) >= 0 {
		at++
	}
	return at
}

// blockStart returns the offset of the first character of a block scalar whose indicator is at an offset.
func (d *Document) blockStart(at int) int {
	end := strings.IndexByte(d.Text[at:], '\n')
	if end < 0 {
		return at
	}
	rest := d.Text[at+end:]
	trimmed := strings.TrimLeft(rest, " \t\n")
	if trimmed == "" {
		return at
	}
	return at + end + len(rest) - len(trimmed)
}
