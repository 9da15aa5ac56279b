package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// document is one YAML document, or JSON value, of a manifest file.
type document struct {
	path string
	text []byte
	// line is the number of lines of the file before the text.
	line int
	json bool
}

// syntax is an error in a document, with its line in the file.
type syntax struct {
	Position
	message string
	// refused: there may be nothing wrong with the file, but it cannot be judged.
	refused bool
}

func (s *syntax) Error() string { return s.String() + ": " + s.message }

// splitDocuments cuts a manifest file where kubectl does (YAMLOrJSONDecoder of
// k8s.io/apimachinery/pkg/util/yaml), whatever its name: what begins with a brace is JSON
// values one after the other, unless the first or second is none.
func splitDocuments(name string, data []byte) ([]document, *syntax) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return splitYAML(name, data, 0)
	}
	var docs []document
	values := json.NewDecoder(bytes.NewReader(data))
	for at := 0; ; {
		var value json.RawMessage
		err := values.Decode(&value)
		line := bytes.Count(data[:at], []byte("\n"))
		switch end := int(values.InputOffset()); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err == nil:
			docs = append(docs, document{path: name, text: data[at:end], line: line, json: true})
			at = end
		case len(docs) > 1:
			bad := document{path: name, text: data[at:], line: line, json: true}.syntax(err)
			return docs, bad
		default:
			text := bytes.TrimLeftFunc(data[at:], unicode.IsSpace)
			line += bytes.Count(data[at:len(data)-len(text)], []byte("\n"))
			rest, bad := splitYAML(name, text, line)
			return append(docs, rest...), bad
		}
	}
}

// splitYAML cuts at lines that start with `---`, on which only a comment may follow. before
// is the number of lines before the text.
func splitYAML(name string, data []byte, before int) ([]document, *syntax) {
	var docs []document
	start, startLine, line := 0, before, before
	flush := func(end int) {
		if len(bytes.TrimSpace(data[start:end])) > 0 {
			docs = append(docs, document{path: name, text: data[start:end], line: startLine})
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
				return docs, &syntax{Position: Position{Path: name, Line: line + 1}, message: fmt.Sprintf("invalid document separator: --- %s", quoteShort(rest))}
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

// decode converts a document to JSON as kubectl does (YAML 1.1), with sorted keys,
// refusing duplicate keys. It is nil for an empty document and for one that is no
// mapping.
func (d document) decode() ([]byte, *syntax) {
	if d.json {
		var m map[string]any
		if err := utiljson.Unmarshal(d.text, &m); err != nil {
			return nil, d.syntax(err)
		}
		return encode(m), nil
	}
	data, err := sigsyaml.YAMLToJSONStrict(d.text)
	if err != nil {
		return nil, d.syntax(err)
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, nil
	}
	return data, nil
}

// encode encodes what was decoded from JSON, so that it cannot fail.
func encode(content map[string]any) []byte {
	data, _ := json.Marshal(content)
	return data
}

func (d document) syntax(err error) *syntax {
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	kind := "invalid YAML: "
	if d.json {
		kind = "invalid JSON: "
	}
	text := yamlPrefix.ReplaceAllString(message, "")
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "unmarshal errors:"))
	line := d.line + errorLine(err)
	if m := innerLine.FindStringSubmatch(text); m != nil {
		text = innerLine.ReplaceAllString(text, "")
		line = d.line + atoi(m[1])
	}
	return &syntax{Position: Position{Path: d.path, Line: line}, message: kind + strings.Join(strings.Fields(text), " ")}
}

// node parses a document for its positions. Nil when it does not parse.
func (d document) node() *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(d.text, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// isObject tells whether the fields of a document are those of a Kubernetes object
// that would be applied to a cluster.
func isObject(apiVersion, kind any) bool {
	v, _ := apiVersion.(string)
	k, _ := kind.(string)
	return v != "" && k != "" && !isConfiguration(v)
}

// isConfiguration tells the API groups of files that tools read and no cluster
// knows.
func isConfiguration(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == "kustomize.config.k8s.io" || group == "preadmit.dev"
}

// objectsOf are the objects in a decoded document: itself, or the items of a list.
func objectsOf(data []byte) []listed {
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
	return []listed{{json: data}}
}

// itemsOf takes a list apart.
func itemsOf(data []byte) []listed {
	var list map[string]any
	if utiljson.Unmarshal(data, &list) != nil {
		return nil
	}
	var out []listed
	for _, e := range expand(list) {
		if isObject(e.content["apiVersion"], e.content["kind"]) {
			out = append(out, listed{encode(e.content), e.items})
		}
	}
	return out
}

// listed is an object as JSON with the indexes of the `items:` it was found in.
type listed struct {
	json  []byte
	items []int
}

// item is an object in lists within lists.
type item struct {
	content map[string]any
	items   []int
}

// expand takes a list apart into its items, as kubectl does: whatever has items is one,
// and items without a kind take the list's.
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

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
