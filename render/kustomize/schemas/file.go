package schemas

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// field is the field of a CustomResourceDefinition that holds a schema.
const field = "openAPIV3Schema"

// minDocument is the minimum size, in bytes, of a document whose schemas are left out.
const minDocument = 8 << 10

// file is a file with schemas, in the order of its text.
type file struct{ schemas []schema }

// schema is a schema and its place in a text.
type schema struct {
	from, to int
	lines    int // number of line ends in it
	json     []byte
	// begin and end are the bounds of its document, number its index in the document.
	begin, end, number int
}

// inPlace returns a text to replace the schema, with as many line ends.
func (s schema) inPlace(text string) string { return " " + text + strings.Repeat("\n", s.lines) }

// fileAt returns the schemas of a file. Each content is examined once.
func fileAt(t *tree.Tree, real string, data []byte) *file {
	const ofContent = "" // no path: equal files have equal schemas
	id, err := t.Identity(real)
	if err != nil {
		return newFile(data)
	}
	if f, ok := t.Parsed(ofContent, id); ok {
		return f.(*file)
	}
	return t.KeepParsed(ofContent, id, newFile(data)).(*file)
}

func newFile(data []byte) *file {
	f := &file{}
	if !bytes.Contains(data, []byte(field)) || bytes.Contains(data, []byte("\r")) {
		return f
	}
	start := 0
	document := func(end int) {
		for i, s := range schemasOf(data[start:end]) {
			s.from, s.to = start+s.from, start+s.to
			s.begin, s.end, s.number = start, end, i
			f.schemas = append(f.schemas, s)
		}
	}
	for _, at := range tree.Separator.FindAllIndex(data, -1) {
		document(at[0] + 1)
		start = at[1]
	}
	document(len(data))
	return f
}

// schemasOf returns the schemas of a document, in order; nil if one of them cannot be left out.
func schemasOf(text []byte) []schema {
	if len(text) < minDocument || !bytes.Contains(text, []byte(field)) {
		return nil
	}
	whole := parse(text)
	if whole == nil || !isDefinition(whole) {
		return nil
	}
	var found []schema
	left := map[*yaml.Node]bool{}
	for _, at := range keysOf(whole) {
		s, ok := schemaAt(text, at)
		if !ok {
			return nil
		}
		found = append(found, s)
		left[at.Value] = true
	}
	if len(found) == 0 || !isRest(text, whole, found, left) {
		return nil
	}
	return found
}

func parse(text []byte) *yaml.Node {
	var doc yaml.Node
	if yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	return &doc
}

func isDefinition(doc *yaml.Node) bool {
	_, kind := origin.Child(doc.Content[0], "kind")
	_, version := origin.Child(doc.Content[0], "apiVersion")
	return kind != nil && kind.Value == "CustomResourceDefinition" &&
		version != nil && strings.HasPrefix(version.Value, "apiextensions.k8s.io/")
}

// keysOf returns the keys of the schemas of a CustomResourceDefinition, with their values, in textual order.
func keysOf(doc *yaml.Node) []origin.Pair {
	var keys []origin.Pair
	add := func(in *yaml.Node) {
		if in == nil {
			return
		}
		if key, value := origin.Child(in, field); key != nil && value != nil {
			keys = append(keys, origin.Pair{Key: key, Value: value})
		}
	}
	_, spec := origin.Child(doc.Content[0], "spec")
	if spec == nil {
		return nil
	}
	for i := 0; i+1 < len(spec.Content) && spec.Kind == yaml.MappingNode; i += 2 {
		switch value := spec.Content[i+1]; spec.Content[i].Value {
		case "validation": // v1beta1
			add(value)
		case "versions":
			for _, version := range value.Content {
				if _, schema := origin.Child(version, "schema"); schema != nil {
					add(schema)
				}
			}
		}
	}
	return keys
}

// schemaAt returns the schema at a key; ok is false unless it is a plain block below the key.
func schemaAt(text []byte, at origin.Pair) (s schema, ok bool) {
	if at.Value.Kind != yaml.MappingNode || !isPlain(at.Value) {
		return s, false
	}
	start := 0
	for range at.Key.Line - 1 {
		start += bytes.IndexByte(text[start:], '\n') + 1
	}
	end := start + bytes.IndexByte(text[start:], '\n')
	to := endOfBlock(text, end+1, at.Key.Column-1)
	if end < start || to < end { // YAML 1.1 has other line ends than \n
		return s, false
	}
	var content map[string]any
	if at.Value.Decode(&content) != nil {
		return s, false
	}
	if _, err := origin.FromYAML(content); err != nil {
		return s, false
	}
	return schema{from: end, to: to, lines: bytes.Count(text[end:to], []byte("\n")), json: tree.Encode(content)}, true
}

// endOfBlock returns the end of a block: before the first line that is not indented more than its key.
func endOfBlock(text []byte, from, indent int) int {
	for at := from; at < len(text); {
		next := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := text[at:next]
		if trimmed := bytes.TrimLeft(line, " "); len(bytes.TrimSpace(line)) > 0 && len(line)-len(trimmed) <= indent {
			return at - 1
		}
		at = next
	}
	return len(bytes.TrimRight(text, "\n"))
}

// isRest reports whether a text with marks instead of its schemas parses to the same document except for the
// schemas.
func isRest(text []byte, whole *yaml.Node, found []schema, left map[*yaml.Node]bool) bool {
	var rest bytes.Buffer
	from := 0
	for _, s := range found {
		if s.from < from || s.to < s.from {
			return false
		}
		rest.Write(text[from:s.from])
		rest.WriteString(s.inPlace(leftOut))
		from = s.to
	}
	rest.Write(text[from:])
	doc := parse(rest.Bytes())
	return doc != nil && isSame(whole, doc, left)
}

// leftOut is the mark that isRest uses.
const leftOut = "preadmit.internal/schema"

// isSame reports whether two documents are equal except for the values that are left out of the second.
func isSame(a, b *yaml.Node, left map[*yaml.Node]bool) bool {
	if left[a] {
		return b.Kind == yaml.ScalarNode && b.Value == leftOut && comments(b) == ""
	}
	if a.Kind != b.Kind || a.Style != b.Style || a.Tag != b.Tag || a.Value != b.Value || comments(a) != comments(b) ||
		len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !isSame(a.Content[i], b.Content[i], left) {
			return false
		}
	}
	return true
}

func comments(n *yaml.Node) string {
	if n.HeadComment == "" && n.LineComment == "" && n.FootComment == "" {
		return ""
	}
	return n.HeadComment + "\n\n" + n.LineComment + "\n\n" + n.FootComment
}

// ambiguous matches plain scalars that are no strings in YAML 1.1 (yaml.org/type).
var ambiguous = regexp.MustCompile(`(?i)^([yn~=]|yes|no|on|off|<<|[-+]?[0-9._]+(:[0-9._]+)+)$`)

// isPlain reports whether all scalars of a schema survive any conversion unchanged, and it has no comments or
// aliases.
func isPlain(node *yaml.Node) bool {
	switch {
	case node.Kind == yaml.AliasNode || comments(node) != "":
		return false
	case node.Kind == yaml.ScalarNode:
		return isPlainScalar(node)
	}
	for _, child := range node.Content {
		if !isPlain(child) {
			return false
		}
	}
	return true
}

// isPlainScalar reports whether every parser reads a scalar as the same string, whole number that fits a
// float64, or boolean.
func isPlainScalar(node *yaml.Node) bool {
	if node.Style&yaml.TaggedStyle != 0 {
		return false
	}
	switch node.ShortTag() {
	case "!!bool":
		return node.Value == "true" || node.Value == "false"
	case "!!int":
		n, err := strconv.ParseInt(node.Value, 10, 64)
		return err == nil && strconv.FormatInt(n, 10) == node.Value && n < 1<<53 && n > -1<<53
	case "!!str":
		switch {
		case node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle) != 0:
			return true
		case node.Style&yaml.FoldedStyle != 0:
			return !build.IsRewritten(node)
		}
		return !strings.HasPrefix(node.Value, "\t") && !ambiguous.MatchString(node.Value)
	}
	return false
}
