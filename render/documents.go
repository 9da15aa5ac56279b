package render

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// document is one YAML document of a manifest file.
type document struct {
	path string
	text []byte
	// line is the number of lines of the file before the text.
	line int
}

// syntax is an error in a document, with its line in the file.
type syntax struct {
	Position
	message string
}

func (s *syntax) Error() string { return s.String() + ": " + s.message }

// splitDocuments cuts a manifest file where kubectl does: at lines that start
// with `---`, on which only a comment may follow.
func splitDocuments(name string, data []byte) ([]document, *syntax) {
	if strings.HasSuffix(name, ".json") {
		return []document{{path: name, text: data}}, nil
	}
	var docs []document
	start, startLine, line := 0, 0, 0
	flush := func(end int) {
		if len(bytes.TrimSpace(data[start:end])) > 0 {
			docs = append(docs, document{name, data[start:end], startLine})
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
				return docs, &syntax{Position{Path: name, Line: line + 1}, fmt.Sprintf("invalid document separator: --- %s", quoteShort(rest))}
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

// decode converts a document as kubectl does (YAML 1.1 to JSON), refusing
// duplicate keys. It is nil for an empty document and for one that is no mapping.
func (d document) decode() (map[string]any, *syntax) {
	data := d.text
	if !isJSON(d.path, data) {
		var err error
		if data, err = sigsyaml.YAMLToJSONStrict(d.text); err != nil {
			return nil, d.syntax(err)
		}
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, nil
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		return nil, d.syntax(err)
	}
	return m, nil
}

func isJSON(name string, data []byte) bool {
	return path.Ext(name) == ".json" && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

func (d document) syntax(err error) *syntax {
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	kind := "invalid YAML: "
	if path.Ext(d.path) == ".json" {
		kind = "invalid JSON: "
	}
	text := yamlPrefix.ReplaceAllString(message, "")
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "unmarshal errors:"))
	line := d.line + errorLine(err)
	if m := innerLine.FindStringSubmatch(text); m != nil {
		text = innerLine.ReplaceAllString(text, "")
		line = d.line + atoi(m[1])
	}
	return &syntax{Position{Path: d.path, Line: line}, kind + strings.Join(strings.Fields(text), " ")}
}

// node parses a document for its positions. Nil when it does not parse.
func (d document) node() *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(d.text, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// isObject tells whether a decoded document is a Kubernetes object that would be
// applied to a cluster.
func isObject(m map[string]any) bool {
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	return apiVersion != "" && kind != "" && !isConfiguration(apiVersion)
}

// isConfiguration tells the API groups of files that tools read and no cluster
// knows.
func isConfiguration(apiVersion string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == "kustomize.config.k8s.io" || group == "preadmit.dev"
}

// expand takes a list apart into its items, as kubectl does: items without a
// kind take the list's.
func expand(m map[string]any) []listed {
	kind, _ := m["kind"].(string)
	value, has := m["items"]
	items, ok := value.([]any)
	if !strings.HasSuffix(kind, "List") || !has || (!ok && value != nil) {
		return []listed{{content: m}}
	}
	var out []listed
	for i, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if k, _ := object["kind"].(string); k == "" && kind != "List" {
			object["kind"], object["apiVersion"] = strings.TrimSuffix(kind, "List"), m["apiVersion"]
		}
		for _, inner := range expand(object) {
			out = append(out, listed{inner.content, append([]int{i}, inner.items...)})
		}
	}
	return out
}

// listed is an object with the indexes of the `items:` it was found in.
type listed struct {
	content map[string]any
	items   []int
}

var innerLine = regexp.MustCompile(`^line (\d+): `)

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
