package render

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Builtin transformers and generators that are configured in documents of their
// own do what fields of a kustomization do. For finding lines such a document is
// read as a kustomization of these fields, whose nodes are those of the document.

// builtinFields are, by the kind of a builtin, the fields of a kustomization that
// its own fields stand for. A `-` in front makes the field a list of one; an empty
// name stands for the whole document.
var builtinFields = map[string]map[string]string{
	"LabelTransformer":               {"labels": "commonLabels"},
	"AnnotationsTransformer":         {"annotations": "commonAnnotations"},
	"ImageTagTransformer":            {"imageTag": "-images"},
	"ReplicaCountTransformer":        {"replica": "-replicas"},
	"PrefixTransformer":              {"prefix": "namePrefix"},
	"SuffixTransformer":              {"suffix": "nameSuffix"},
	"PrefixSuffixTransformer":        {"prefix": "namePrefix", "suffix": "nameSuffix"},
	"PatchTransformer":               {"": "-patches"},
	"PatchJson6902Transformer":       {"": "-patches"},
	"PatchStrategicMergeTransformer": {"paths": "patchesStrategicMerge"},
	"ReplacementTransformer":         {"replacements": "replacements"},
	"ConfigMapGenerator":             {"": "-configMapGenerator"},
	"SecretGenerator":                {"": "-secretGenerator"},
}

// builtins reads the plugin configuration that a kustomization lists, in order.
func (l *locator) builtins(k *kustomization) []*kustomization {
	var out []*kustomization
	for _, e := range l.closure.entries {
		if e.from == k && e.kind == refPlugin && (len(e.at) == 0 || e.at[0] != "validators") {
			out = append(out, l.builtinsAt(k, e)...)
		}
	}
	return out
}

// builtinsAt reads what an entry holds or names: text, a file, or the resources of a
// kustomization in a directory.
func (l *locator) builtinsAt(k *kustomization, e entry) []*kustomization {
	if e.target == "" || text(e.value) {
		return builtinsIn(k, k.data, e.value, func(text string, line int) *snippet { return inlineSnippet(k, text, line, e.at) })
	}
	if to := l.tree.resolve(e.target); to.isDir {
		var out []*kustomization
		for _, inner := range l.closure.entries {
			if inner.from.dir == to.real && inner.kind == refResource {
				out = append(out, l.builtinsAt(k, inner)...)
			}
		}
		return out
	}
	data, real, err := l.tree.load(e.target, newTrace())
	if err != nil {
		return nil
	}
	return builtinsIn(k, data, string(data), func(text string, line int) *snippet { return newSnippet(real, text, line) })
}

// builtinsIn reads documents of a file, which at places.
func builtinsIn(k *kustomization, file []byte, written string, at func(text string, line int) *snippet) []*kustomization {
	var out []*kustomization
	for _, c := range splitChunks(normalize([]byte(written))) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(c.text), &doc) != nil || len(doc.Content) == 0 {
			continue
		}
		s := at(c.text, c.line)
		moveNode(s, &doc, map[*yaml.Node]bool{})
		if b := builtin(doc.Content[0]); b != nil {
			b.path, b.dir, b.data = s.path, k.dir, file
			out = append(out, b)
		}
	}
	return out
}

// move gives nodes the places they have in the file.
func moveNode(s *snippet, n *yaml.Node, seen map[*yaml.Node]bool) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	pos := s.position(n)
	n.Line, n.Column = pos.Line, pos.Column
	for _, child := range n.Content {
		moveNode(s, child, seen)
	}
}

// builtin makes a kustomization of a builtin's document; nil when it is another.
func builtin(doc *yaml.Node) *kustomization {
	kind := scalarField(doc, "kind")
	fields := builtinFields[kind]
	top := &yaml.Node{Kind: yaml.MappingNode, Line: doc.Line, Column: doc.Column}
	for own, name := range fields {
		h := hop{value: doc}
		if own != "" {
			h, _ = field(doc, own, 0)
		}
		if h.value != nil {
			setBuiltin(top, name, h)
		}
	}
	if metadata, ok := field(doc, "metadata", 0); ok {
		switch namespace, ok := field(metadata.value, "namespace", 0); {
		case ok && kind == "NamespaceTransformer":
			setBuiltin(top, "namespace", namespace)
		case strings.HasSuffix(kind, "Generator"):
			if name, ok := field(metadata.value, "name", 0); ok {
				doc.Content = append(doc.Content, name.key, name.value)
			}
		}
	}
	if len(top.Content) == 0 {
		return nil
	}
	k := &kustomization{document: func() *yaml.Node { return top }}
	written, err := yaml.Marshal(top)
	if err != nil {
		return nil
	}
	if data, err := sigsyaml.YAMLToJSON(written); err == nil {
		_ = json.Unmarshal(data, &k.spec) // what does not fit is not explained
	}
	return k
}

// setBuiltin adds a field of a kustomization. Its key keeps the place of the
// builtin's.
func setBuiltin(top *yaml.Node, name string, h hop) {
	key, value := &yaml.Node{Kind: yaml.ScalarNode}, h.value
	if h.key != nil {
		key.Line, key.Column = h.key.Line, h.key.Column
	} else {
		key.Line, key.Column = value.Line, value.Column
	}
	name, list := strings.CutPrefix(name, "-")
	if list {
		value = &yaml.Node{Kind: yaml.SequenceNode, Line: value.Line, Column: value.Column, Content: []*yaml.Node{value}}
	}
	key.Value = name
	top.Content = append(top.Content, key, value)
}
