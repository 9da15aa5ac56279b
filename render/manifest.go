package render

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isManifest tells whether a file holds a Kubernetes object, or looks so much
// like it that its author must have meant one; in the latter case, and when it
// cannot be read, a diagnostic says what is wrong.
func (d *discoverer) isManifest(name string) bool {
	if d.tree.resolve(name).isDir {
		return false // a symbolic link to a directory
	}
	data, _, err := d.tree.load(name, newTrace())
	if errors.Is(err, fs.ErrNotExist) {
		d.diagnose(SeverityWarning, Position{Path: name}, "is a symbolic link that leads nowhere")
		return false
	}
	if err != nil {
		p := unreadable(name, err)
		d.diagnose(SeverityError, p.Position, "%s", p.Message)
		return true
	}
	if !mayHoldObject(name, data) {
		return false
	}
	docs, bad := splitDocuments(name, data)
	found := false
	for _, doc := range docs {
		m, bad := doc.decode()
		switch {
		case bad != nil && looksLikeObject(doc) && templated(doc.text):
			d.diagnose(SeverityWarning, bad.Position, "looks like a template, not a manifest: %s", bad.message)
		case bad != nil && looksLikeObject(doc):
			d.diagnose(SeverityError, bad.Position, "%s", bad.message)
			found = true
		case bad == nil && m != nil && holdsObject(m):
			found = true
		}
	}
	if bad != nil && looksLikeObject(document{path: name, text: data}) {
		d.diagnose(SeverityError, bad.Position, "%s", bad.message)
		found = true
	}
	return found
}

// mayHoldObject is a cheap test, before anything is parsed.
func mayHoldObject(name string, data []byte) bool {
	return bytes.IndexByte(data, 0) < 0 && bytes.Contains(data, []byte("apiVersion")) && bytes.Contains(data, []byte("kind"))
}

func holdsObject(m map[string]any) bool {
	for _, l := range expand(m) {
		if isObject(l.content) {
			return true
		}
	}
	return false
}

// looksLikeObject tells whether a document that does not parse has the two lines
// every Kubernetes object has.
func looksLikeObject(d document) bool {
	if path.Ext(d.path) == ".json" {
		return bytes.Contains(d.text, []byte(`"apiVersion"`)) && bytes.Contains(d.text, []byte(`"kind"`))
	}
	return hasLine(d.text, "apiVersion:") && hasLine(d.text, "kind:")
}

// templated tells a file of another tool's templates, which is no YAML yet.
func templated(text []byte) bool {
	return bytes.Contains(text, []byte("{{")) && bytes.Contains(text, []byte("}}"))
}

func hasLine(text []byte, prefix string) bool {
	return bytes.HasPrefix(text, []byte(prefix)) || bytes.Contains(text, []byte("\n"+prefix))
}

// pluginFiles lists the files that plugin configuration names.
func pluginFiles(data []byte) []string {
	var out []string
	for _, c := range splitChunks(normalize(data)) {
		decoder := yaml.NewDecoder(strings.NewReader(c.text))
		var node yaml.Node
		for decoder.Decode(&node) == nil {
			var value any
			if guardNode(&node, Limits{}.withDefaults()) == nil && node.Decode(&value) == nil {
				for _, p := range pluginPaths(stringKeys(value)) {
					if !text(p) {
						out = append(out, sourcePath(p))
					}
				}
			}
			node = yaml.Node{}
		}
	}
	return out
}
