package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	yamlv2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// Document is one YAML document, or JSON value, of a manifest file.
type Document struct {
	Path string
	Text []byte
	// Line is the number of lines of the file before the text.
	Line int
	json bool
}

// SyntaxError is an error in a document, with its line in the file.
type SyntaxError struct {
	Position
	Message string
	// Refused is set if the file may be correct, but cannot be judged.
	Refused bool
}

func (s *SyntaxError) Error() string { return s.String() + ": " + s.Message }

// SplitDocuments splits a manifest file as kubectl does (YAMLOrJSONDecoder of k8s.io/apimachinery/pkg/util/yaml),
// whatever its name: a file that begins with a brace is a sequence of JSON values, unless the first or second is not
// valid JSON.
func SplitDocuments(name string, data []byte) ([]Document, *SyntaxError) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return splitYAML(name, data, 0)
	}
	var docs []Document
	values := json.NewDecoder(bytes.NewReader(data))
	for at := 0; ; {
		var value json.RawMessage
		err := values.Decode(&value)
		line := bytes.Count(data[:at], []byte("\n"))
		switch end := int(values.InputOffset()); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err == nil:
			docs = append(docs, Document{Path: name, Text: data[at:end], Line: line, json: true})
			at = end
		case len(docs) > 1:
			bad := Document{Path: name, Text: data[at:], Line: line, json: true}.syntax(err)
			return docs, bad
		default:
			text := bytes.TrimLeftFunc(data[at:], unicode.IsSpace)
			line += bytes.Count(data[at:len(data)-len(text)], []byte("\n"))
			rest, bad := splitYAML(name, text, line)
			return append(docs, rest...), bad
		}
	}
}

// splitYAML splits at lines that start with `---`, which may only be followed by a comment. before is the number of
// lines before the text.
func splitYAML(name string, data []byte, before int) ([]Document, *SyntaxError) {
	var docs []Document
	start, startLine, line := 0, before, before
	flush := func(end int) {
		if len(bytes.TrimSpace(data[start:end])) > 0 {
			docs = append(docs, Document{Path: name, Text: data[start:end], Line: startLine})
		}
	}
	for at := 0; at < len(data); line++ {
		next := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if bytes.HasPrefix(data[at:next], []byte("---")) {
			rest := bytes.TrimSpace(data[at+3 : next])
			if len(rest) > 0 && rest[0] != '#' {
				return docs, &SyntaxError{Position: Position{Path: name, Line: line + 1}, Message: fmt.Sprintf("invalid document separator: --- %s", quoteShort(rest))}
			}
			flush(at)
			start, startLine = next, line+1
		}
		at = next
	}
	flush(len(data))
	return docs, nil
}

func quoteShort(b []byte) string {
	if len(b) > 40 {
		b = b[:40]
	}
	return string(b)
}

// decode converts a document to JSON as kubectl does (YAML 1.1), with sorted keys. It refuses duplicate keys. It
// returns nil for an empty document and for one that is not a mapping.
func (d Document) decode() ([]byte, *SyntaxError) {
	if d.json {
		var m map[string]any
		if err := utiljson.Unmarshal(d.Text, &m); err != nil {
			return nil, d.syntax(err)
		}
		return Encode(m), nil
	}
	data, err := sigsyaml.YAMLToJSONStrict(d.Text)
	if err != nil && d.onlyMergesRepeat() {
		data, err = sigsyaml.YAMLToJSON(d.Text)
	}
	if err != nil {
		return nil, d.syntax(err)
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, nil
	}
	return data, nil
}

// onlyMergesRepeat reports whether the document has merge keys (`<<: *base`) and no mapping with a duplicate key.
// Strict decoding mistakes a key that overrides a merged one for a duplicate.
func (d Document) onlyMergesRepeat() bool {
	root := d.Node()
	return root != nil && bytes.Contains(d.Text, []byte("<<")) && writtenOnce(root)
}

func writtenOnce(n *yaml.Node) bool {
	if n.Kind == yaml.MappingNode {
		keys := make(map[string]bool, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || keys[key.Value] {
				return false
			}
			keys[key.Value] = true
		}
	}
	for _, c := range n.Content {
		if !writtenOnce(c) {
			return false
		}
	}
	return true
}

// Encode encodes a value that was decoded from JSON, which cannot fail.
func Encode(content map[string]any) []byte {
	data, _ := json.Marshal(content)
	return data
}

func (d Document) syntax(err error) *SyntaxError {
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	kind := "invalid YAML: "
	if d.json {
		kind = "invalid JSON: "
	}
	text := YamlPrefix.ReplaceAllString(message, "")
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "unmarshal errors:"))
	line := d.Line + ErrorLineIn(d.Text, err)
	if m := innerLine.FindStringSubmatch(text); m != nil {
		text = innerLine.ReplaceAllString(text, "")
		inside, _ := NewParserLines(string(d.Text)).InFile(Atoi(m[1]), 1)
		line = d.Line + inside
	}
	return &SyntaxError{Position: Position{Path: d.Path, Line: line}, Message: kind + strings.Join(strings.Fields(text), " ")}
}

// Node parses a document for positions; nil if it is invalid.
func (d Document) Node() *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(d.Text, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// isObject reports whether the fields of a document are those of a Kubernetes object
// that would be applied to a cluster.
func isObject(apiVersion, kind any) bool {
	v, _ := apiVersion.(string)
	k, _ := kind.(string)
	return v != "" && k != "" && !isConfiguration(v)
}

// isConfiguration reports whether an API group is one of configuration files of tools, which no cluster serves.
func isConfiguration(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == "kustomize.config.k8s.io" || group == "preadmit.dev"
}

// ObjectsOf returns the objects in a decoded document with sorted keys: itself, or the items of a list.
func ObjectsOf(data []byte) []Item {
	if apiVersion, kind, _, ok := Head(data); ok && isObject(string(apiVersion), string(kind)) && !bytes.HasSuffix(kind, []byte("List")) {
		return []Item{{Json: data}}
	}
	var top struct {
		APIVersion any             `json:"apiVersion"`
		Kind       any             `json:"kind"`
		Items      json.RawMessage `json:"items"`
	}
	if sigsjson.UnmarshalCaseSensitivePreserveInts(data, &top) != nil {
		return nil
	}
	if kind, _ := top.Kind.(string); bytes.HasPrefix(top.Items, []byte("[")) || strings.HasSuffix(kind, "List") && top.Items != nil {
		return itemsOf(data)
	}
	if !isObject(top.APIVersion, top.Kind) {
		return nil
	}
	return []Item{{Json: data}}
}

// itemsOf returns the objects in a list.
func itemsOf(data []byte) []Item {
	var list map[string]any
	if utiljson.Unmarshal(data, &list) != nil {
		return nil
	}
	var out []Item
	for _, e := range expand(list) {
		if isObject(e.content["apiVersion"], e.content["kind"]) {
			out = append(out, Item{Encode(e.content), e.items})
		}
	}
	return out
}

// Item is an object in JSON with the indexes in the nested `items:` that contain it.
type Item struct {
	Json  []byte
	Items []int
}

// IsForeign reports whether an object is certainly not one of an API server: the configuration of a tool. Without a
// group, the only version is v1, and objects have metadata, unlike configurations of Talos (apiVersion: v1alpha1, kind:
// KubeAPIServerConfig) and of kubectl (kind: Config).
func (i *Item) IsForeign() bool {
	text, ok := bytes.CutPrefix(i.Json, []byte(`{"apiVersion":"`))
	if !ok {
		return false
	}
	version, _, _ := strings.Cut(string(text[:min(len(text), 300)]), `"`)
	if group, _, grouped := strings.Cut(version, "/"); grouped {
		return slices.Contains(configurations, group)
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(i.Json, &top) != nil || top["metadata"] != nil {
		return false
	}
	return version != "v1" || string(top["kind"]) == `"Config"` && top["contexts"] != nil
}

// configurations are groups of files that tools read, of which there is no CustomResourceDefinition.
var configurations = []string{
	"apiserver.config.k8s.io", "audit.k8s.io", "backstage.io", "client.authentication.k8s.io", "ctlptl.dev", "eksctl.io", "k0sctl.k0sproject.io", "k3d.io",
	"kind.x-k8s.io", "kpt.dev", "kubeadm.k8s.io", "kubecontrollermanager.config.k8s.io", "kubelet.config.k8s.io", "kubeproxy.config.k8s.io",
	"kubescheduler.config.k8s.io", "meta.pkg.crossplane.io", "skaffold",
}

// item is an object in nested lists.
type item struct {
	content map[string]any
	items   []int
}

// expand returns the items of a list as kubectl does: any object with items is a list, and items without a kind get the
// list's kind without "List".
func expand(m map[string]any) []item {
	kind, _ := m["kind"].(string)
	value, has := m["items"]
	items, ok := value.([]any)
	if !has || !ok && (value != nil || !strings.HasSuffix(kind, "List")) {
		return []item{{content: m}}
	}
	var out []item
	for i, element := range items {
		object, ok := element.(map[string]any)
		if !ok {
			continue
		}
		if k, _ := object["kind"].(string); k == "" && kind != "List" {
			object["kind"], object["apiVersion"] = strings.TrimSuffix(kind, "List"), m["apiVersion"]
		}
		for _, inner := range expand(object) {
			out = append(out, item{inner.content, append([]int{i}, inner.items...)})
		}
	}
	return out
}

var innerLine = regexp.MustCompile(`^line (\d+): `)

func Atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// ErrorLineIn returns the line in a YAML error. An error about invalid characters has no line: then it is the line of
// the first invalid character in the text, or else 1.
func ErrorLineIn(text []byte, err error) int {
	if m := YamlLine.FindStringSubmatch(err.Error()); m != nil {
		line := max(Atoi(m[1]), 1)
		if text != nil { // the file could be read
			line = lineAtFault(string(text), err, line)
		}
		if countsFromZero.MatchString(err.Error()) {
			line++
		}
		if text == nil {
			return line
		}
		last := CountParserLines(strings.TrimSpace("x" + string(text))) // the end of the text is on its last line
		line, _ = NewParserLines(string(text)).InFile(min(line, last), 1)
		return line
	}
	line := 1
	for len(text) > 0 && characterError.MatchString(err.Error()) {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && size == 1, !isPrintable(r):
			return line
		}
		text = text[size:]
	}
	return 1
}

// lineAtFault returns the line of a syntax error that is at fault, as its parser counts lines; or else, known. The parser
// knows two: where it stopped, and where the mapping, key or quoted text begins that it was reading. Version 2 of go-yaml
// names the first, version 3 the second, which is at fault where the end is missing; neither names a first line.
func lineAtFault(text string, err error, known int) int {
	text = "\n" + text
	again := yamlv2.Unmarshal([]byte(text), &struct{}{})
	if lacksEnd.MatchString(err.Error()) {
		again = yaml.Unmarshal([]byte(text), new(yaml.Node))
	}
	if again == nil || !strings.HasSuffix(err.Error(), YamlPrefix.ReplaceAllString(again.Error(), "")) {
		return known
	}
	if m := YamlLine.FindStringSubmatch(again.Error()); m != nil {
		return Atoi(m[1]) - 1
	}
	return known
}

// isPrintable reports whether a character is allowed in YAML (YAML 1.2, section 5.1), except for a byte order mark
// within a text.
func isPrintable(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= '~' || r == 0x85 ||
		r >= 0xA0 && r <= 0xFFFD && r != 0xFEFF || r >= 0x10000
}

var characterError = regexp.MustCompile(`UTF-8|control characters|Unicode character`)

// countsFromZero matches the errors of YAML's parser, whose lines count from 0, as against those of its scanner
// (parser.fail in decode.go of go.yaml.in/yaml/v2 and v3).
var countsFromZero = regexp.MustCompile(`yaml: line \d+: did not find expected (key|node content|'-' indicator|',' or '[]}]'|<document start>)`)

// lacksEnd matches the errors about a key without a colon and a text without its closing quote.
var lacksEnd = regexp.MustCompile(`could not find expected ':'|found unexpected (end of stream|document indicator)`)

var YamlLine = regexp.MustCompile(`yaml: line (\d+)`)

var YamlPrefix = regexp.MustCompile(`yaml: (line \d+: )?`)
