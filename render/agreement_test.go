package render_test

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/tree"
)

// reader reads the files of a tree again, independently of what located a field, to check that the text at a place
// agrees with the value of the field.
type reader struct {
	fsys  fs.FS
	files map[string]*readFile
}

// readFile is a file with its scalars by position.
type readFile struct {
	text    string
	lines   []string
	scalars map[[2]int]readScalar
	// blocks are the literal blocks, which may hold patches or files.
	blocks []readScalar
}

// readScalar is a scalar with its key.
type readScalar struct {
	node *yaml.Node
	key  string
}

func newReader(fsys fs.FS) *reader { return &reader{fsys: fsys, files: map[string]*readFile{}} }

// isTemplate reports whether a file is a template of a chart, whose lines are not values.
func (r *reader) isTemplate(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if path.Base(dir) == "templates" {
			_, err := fs.Stat(r.fsys, path.Join(path.Dir(dir), "Chart.yaml"))
			return err == nil
		}
	}
	return false
}

func (r *reader) file(name string) *readFile {
	if f, ok := r.files[name]; ok {
		return f
	}
	data, err := fs.ReadFile(r.fsys, name)
	if err != nil {
		data = nil
	}
	f := readText(strings.ReplaceAll(string(data), "\r\n", "\n"))
	r.files[name] = f
	return f
}

// readText parses the documents of a text up to the first that is not valid YAML.
func readText(text string) *readFile {
	f := &readFile{text: text, lines: strings.Split(text, "\n"), scalars: map[[2]int]readScalar{}}
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var doc yaml.Node
		if decoder.Decode(&doc) != nil {
			return f
		}
		f.add(&doc, "")
	}
}

func (f *readFile) add(n *yaml.Node, key string) {
	switch n.Kind {
	case yaml.ScalarNode:
		s := readScalar{n, key}
		f.scalars[[2]int{n.Line, n.Column}] = s
		if n.Style&yaml.LiteralStyle != 0 {
			f.blocks = append(f.blocks, s)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			f.add(n.Content[i], "")
			f.add(n.Content[i+1], n.Content[i].Value)
		}
	default:
		for _, child := range n.Content {
			f.add(child, key)
		}
	}
}

// scalar returns the scalar at a position of the file, or of the YAML in a literal block of it.
func (f *readFile) scalar(line, column int) (readScalar, bool) {
	if s, ok := f.scalars[[2]int{line, column}]; ok {
		return s, true
	}
	for _, b := range f.blocks {
		if line <= b.node.Line || line > b.node.Line+strings.Count(b.node.Value, "\n")+1 {
			continue
		}
		return readText(b.node.Value).scalar(line-b.node.Line, column-f.indent(b.node))
	}
	return readScalar{}, false
}

// indent returns the additional indentation of a literal block in the file.
func (f *readFile) indent(block *yaml.Node) int {
	for i, inner := range strings.Split(block.Value, "\n") {
		if strings.TrimSpace(inner) != "" && block.Line+i < len(f.lines) {
			return leading(f.lines[block.Line+i]) - leading(inner)
		}
	}
	return 0
}

func leading(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// The ways in which a line agrees with the value made from it.
const (
	agreeSame    = "the same scalar"
	agreeData    = "data of a generator"
	agreePatch   = "within a patch that is not written as a block"
	agreeVars    = "with variables substituted"
	agreeName    = "a name with prefix, suffix or hash"
	agreeImage   = "a part of an image"
	agreePart    = "a part that a replacement or variable copied"
	agreeNewline = "without its last newline"
	agreeFolded  = "folded anew"
)

// agrees returns the way in which the text at a place agrees with a value of a field with a key; empty if it does not.
func (r *reader) agrees(pos tree.Position, key string, value any) string {
	f := r.file(pos.Path)
	s, ok := f.scalar(pos.Line, pos.Column)
	if ok && sameValue(s.node, value) {
		return agreeSame
	}
	text, isText := value.(string)
	if !isText {
		if ok && holdsScalar(s.node.Value, value) {
			return agreePatch
		}
		return ""
	}
	if f.isData(pos, key, text, s.node) {
		return agreeData
	}
	if !ok && pos.Line <= len(f.lines) { // of a file of `key=value`
		s.node = &yaml.Node{Value: f.lines[pos.Line-1]}
	}
	if s.node == nil || s.node.Value == "" {
		return ""
	}
	return agreesAfter(s, key, text)
}

// agreesAfter returns the change of kustomize that turns a scalar into a value; empty for none.
func agreesAfter(s readScalar, key, value string) string {
	was := s.node.Value
	switch {
	case strings.TrimSpace(was) == strings.TrimSpace(value):
		return agreeNewline
	case s.node.Style&yaml.FoldedStyle != 0 && strings.Join(strings.Fields(was), " ") == strings.Join(strings.Fields(value), " "):
		return agreeFolded
	case substitutes(was, value):
		return agreeVars
	case key == "image" && strings.Contains(value, was):
		return agreeImage
	case isNameField(key) && strings.Contains(value, was):
		return agreeName
	case holdsScalar(was, value):
		return agreePatch
	case copies(was, value):
		return agreePart
	}
	return ""
}

// copies reports whether a part of a value, or of a generator's `key=value`, is equal to the text at a place, or the
// value is a part of that text.
func copies(was, value string) bool {
	_, after, _ := strings.Cut(was, "=")
	for _, part := range []string{was, strings.Trim(after, `"'`)} {
		if len(part) > 1 && strings.Contains(value, part) {
			return true
		}
	}
	return len(value) > 1 && strings.Contains(was, value)
}

func isNameField(key string) bool { return key == "name" || strings.HasSuffix(key, "Name") }

// sameValue compares a scalar with a decoded value: strings by their text, other types after decoding.
func sameValue(n *yaml.Node, value any) bool {
	if text, ok := value.(string); ok {
		return n.Value == text
	}
	var written any
	if n.Decode(&written) != nil {
		return false
	}
	a, errA := json.Marshal(written)
	b, errB := json.Marshal(value)
	return errA == nil && errB == nil && string(a) == string(b)
}

// isData reports whether a line of a generator, or of a file it reads, contains a value: as `key=value`, or as the
// whole file. Values of Secrets are encoded.
func (f *readFile) isData(pos tree.Position, key, value string, literal *yaml.Node) bool {
	lines := []string{}
	if literal != nil {
		lines = append(lines, literal.Value)
	}
	if pos.Line <= len(f.lines) {
		lines = append(lines, f.lines[pos.Line-1])
	}
	values := []string{value}
	if decoded, err := base64.StdEncoding.DecodeString(value); err == nil {
		values = append(values, string(decoded))
	}
	for _, v := range values {
		if pos.Line == 1 && strings.TrimRight(f.text, "\n") == strings.TrimRight(strings.ReplaceAll(v, "\r\n", "\n"), "\n") {
			return true
		}
		for _, line := range lines {
			name, after, ok := strings.Cut(strings.TrimPrefix(line, "\uFEFF"), "=")
			if ok && strings.TrimSpace(name) == key && strings.Trim(after, `"'`) == strings.Trim(v, `"'`) {
				return true
			}
		}
	}
	return false
}

var variable = regexp.MustCompile(`\\\$\\\([A-Za-z0-9_.-]+\\\)`)

// substitutes reports whether text with `$(VAR)` in it may have become a value.
func substitutes(text, value string) bool {
	pattern := variable.ReplaceAllString(regexp.QuoteMeta(text), "(?s:.*)")
	if pattern == regexp.QuoteMeta(text) {
		return false
	}
	re, err := regexp.Compile("^" + pattern + "$")
	return err == nil && re.MatchString(value)
}

// holdsScalar reports whether a text is YAML that contains a scalar with a value.
func holdsScalar(text string, value any) bool {
	if !strings.ContainsAny(text, "\n:") {
		return false
	}
	for _, s := range readText(text).scalars {
		if sameValue(s.node, value) {
			return true
		}
	}
	return false
}
