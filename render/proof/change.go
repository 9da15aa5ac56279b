package proof

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// change is a new content of a file of the tree, and its effect on a value.
type change struct {
	path string
	data []byte
	// marker was inserted into a text, or before the entries of a collection; empty when another number,
	// boolean or the like was written.
	marker string
	// old and new are the scalar before and after the change. For a text that spans lines, or a part of a
	// text, they are only similar to it.
	old, new string
}

// sourceFile is a file of the tree that is to be changed.
type sourceFile struct {
	path   string
	data   []byte
	marker string
}

// markerFor returns a word that is in none of the texts, and that kustomize and YAML always treat as text.
func markerFor(texts ...[]byte) string {
	marker := "xqzj"
	for slices.ContainsFunc(texts, func(t []byte) bool { return bytes.Contains(t, []byte(marker)) }) {
		marker += "j"
	}
	return marker
}

// appended appends to a file that becomes a value as a whole, before the last line break.
func (f sourceFile) appended() []change {
	end := len(bytes.TrimRight(f.data, "\r\n"))
	return []change{f.change(slices.Concat(f.data[:end], []byte(f.marker), f.data[end:]))}
}

func (f sourceFile) change(data []byte) change {
	return change{path: f.path, data: data, marker: f.marker}
}

// appendedTo appends to a line `KEY=value`, or to `KEY`, whose value is empty.
func (f sourceFile) appendedTo(line int) ([]change, string) {
	lines := f.lines()
	if line < 1 || line > len(lines) {
		return nil, noLine(f.path, line)
	}
	text := strings.TrimRight(string(lines[line-1]), "\r\n")
	end := len([]rune(text))
	add := f.marker
	if !strings.Contains(text, "=") {
		add = "=" + add
	}
	return []change{f.change(replaced(lines, line, end, end, add))}, ""
}

func noLine(path string, line int) string { return fmt.Sprintf("%s has no line %d", path, line) }

// lines returns the lines of the file, with their line ends.
func (f sourceFile) lines() [][]rune {
	var out [][]rune
	for line := range strings.Lines(string(f.data)) {
		out = append(out, []rune(line))
	}
	return out
}

// replaced returns a file with another text between two runes of a line.
func replaced(lines [][]rune, line, from, to int, with string) []byte {
	var out strings.Builder
	for i, l := range lines {
		if i == line-1 {
			out.WriteString(string(l[:from]) + with + string(l[to:]))
			continue
		}
		out.WriteString(string(l))
	}
	return []byte(out.String())
}

// withScalar changes the scalar at a place, in the part that is in target. A number becomes another number,
// `true` becomes `false`.
func (f sourceFile) withScalar(at tree.Position, target []string) ([]change, string) {
	lines := f.lines()
	w, ok := scalarAt(lines, at)
	if !ok {
		return nil, fmt.Sprintf("no scalar begins at %s", at)
	}
	text := string(w.text(lines))
	if text == "" {
		c := f.change(replaced(lines, w.line, w.from, w.to, w.blank+f.marker))
		c.new = f.marker
		return []change{c}, ""
	}
	if w.plain {
		if m := plainToken.FindStringSubmatch(text); m != nil {
			if old, other, ok := otherTyped(m[1], f.marker); ok {
				return []change{{
					path: f.path, data: replaced(lines, w.line, w.from, w.from+len(m[1]), other),
					old: old, new: valueText(other),
				}}, ""
			}
		}
	}
	return f.marked(lines, w, target), ""
}

// marked inserts the marker into a text, after the part that is in the field's value.
func (f sourceFile) marked(lines [][]rune, w scalarText, target []string) []change {
	text := w.text(lines)
	var ends []int
	for _, t := range target {
		if ends = endsOfCommon(text, []rune(t)); len(ends) > 0 {
			break
		}
	}
	if len(ends) == 0 {
		ends = []int{0}
	}
	var out []change
	for _, end := range ends {
		for end > 0 && (w.quote == '"' && text[end-1] == '\\' || w.quote == '\'' && text[end-1] == '\'') {
			end-- // of an escape
		}
		c := f.change(replaced(lines, w.line, w.from+end, w.from+end, f.marker))
		c.old, c.new = string(text), string(text[:end])+f.marker+string(text[end:])
		out = append(out, c)
	}
	return out
}

// plainToken matches a possible number or word of YAML at the beginning of a text.
var plainToken = regexp.MustCompile(`^([-+.~\w]+)(?:$|[,\]}]|\s+#)`)

// otherTyped returns another value of the same type for a token that is no text; the marker for null.
func otherTyped(token, marker string) (old, other string, ok bool) {
	var node yaml.Node
	if yaml.Unmarshal([]byte(token), &node) != nil || len(node.Content) == 0 {
		return "", "", false
	}
	switch node.Content[0].ShortTag() {
	case "!!int", "!!float":
		if strings.Trim(token, "0") == "" {
			return valueText(token), "7", true
		}
		return valueText(token), token + "7", true
	case "!!bool":
		return valueText(token), map[string]string{"true": "false", "false": "true"}[strings.ToLower(token)], true
	case "!!null":
		return "", marker, true
	}
	return "", "", false
}

// valueText returns a scalar as text.
func valueText(token string) string {
	var v any
	if yaml.Unmarshal([]byte(token), &v) != nil {
		return token
	}
	return textOf(v)
}
