package objects

import (
	"bufio"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render/origin"
)

// yamlWriter writes decoded JSON as YAML in block style with sorted keys. The text is safe
// for a terminal and a log, and has the same meaning in YAML 1.1 and 1.2. out keeps the
// error of a failed write.
type yamlWriter struct {
	out *bufio.Writer
	// comment returns the comment after the scalar or empty collection at a field path.
	// Nil means no comments.
	comment func(path string) string
}

// longKey is the maximum length, in bytes, of a key in one line with its value: parsers
// look ahead for 1024 characters.
const longKey = 1000

// mapping writes the fields of a mapping. If inline, the first one continues a line.
func (y *yamlWriter) mapping(m map[string]any, path string, indent int, inline bool) {
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 || !inline {
			y.indent(indent)
		}
		text := yamlString(key)
		if len(text) > longKey {
			y.text("? " + text + "\n")
			y.indent(indent)
			text = ""
		}
		y.text(text + ":")
		y.value(m[key], origin.AppendKey(path, key), indent, false)
	}
}

// sequence writes the elements of a list; inline is as for mapping.
func (y *yamlWriter) sequence(list []any, path string, indent int, inline bool) {
	for i, value := range list {
		if i > 0 || !inline {
			y.indent(indent)
		}
		y.text("-")
		y.value(value, path+"["+strconv.Itoa(i)+"]", indent, true)
	}
}

// value writes the value after a colon or, if inline, after a dash.
func (y *yamlWriter) value(value any, path string, indent int, inline bool) {
	gap, listIndent := "\n", indent
	if inline {
		gap, listIndent = " ", indent+2
	}
	switch v := value.(type) {
	case map[string]any:
		if len(v) > 0 {
			y.text(gap)
			y.mapping(v, path, indent+2, inline)
			return
		}
	case []any:
		if len(v) > 0 {
			y.text(gap)
			y.sequence(v, path, listIndent, inline)
			return
		}
	}
	y.leaf(value, path, indent)
}

// leaf writes a scalar or an empty collection, with its comment.
func (y *yamlWriter) leaf(value any, path string, indent int) {
	s, isString := value.(string)
	header, lines := literal(s)
	switch {
	case header != "":
		y.text(" " + header)
	case isString:
		y.text(" " + yamlString(s))
	default:
		data, _ := json.Marshal(value) // cannot fail: value was decoded from JSON
		y.text(" " + string(data))
	}
	if y.comment != nil {
		y.text(" # " + y.comment(path))
	}
	y.text("\n")
	for _, line := range lines {
		if line != "" {
			y.indent(indent + 2)
		}
		y.text(line + "\n")
	}
}

func (y *yamlWriter) text(s string) { _, _ = y.out.WriteString(s) }

func (y *yamlWriter) indent(n int) { y.text(strings.Repeat(" ", n)) }
