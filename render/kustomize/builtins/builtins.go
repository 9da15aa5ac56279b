// Package builtins reads documents that configure kustomize's builtin transformers and generators. They do
// what fields of a kustomization do: to find lines, such a document is converted to a kustomization with these
// fields, whose nodes are those of the document.
package builtins

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// fieldsOf maps the fields of each kind of builtin to fields of a kustomization. A `-` prefix makes the value
// the only item of a list; an empty name stands for the whole document.
var fieldsOf = map[string]map[string]string{
	"LabelTransformer":               {"labels": "commonLabels"},
	"AnnotationsTransformer":         {"annotations": "commonAnnotations"},
	"ImageTagTransformer":            {"imageTag": "-images"},
	"ReplicaCountTransformer":        {"replica": "-replicas"},
	"PrefixTransformer":              {"prefix": "namePrefix"},
	"SuffixTransformer":              {"suffix": "nameSuffix"},
	"PrefixSuffixTransformer":        {"prefix": "namePrefix", "suffix": "nameSuffix"},
	"PatchTransformer":               {"": "-patches"},
	"PatchJson6902Transformer":       {"": "-patches"},
	"PatchStrategicMergeTransformer": {"paths": "patchesStrategicMerge", "patches": "-patchesStrategicMerge"},
	"ReplacementTransformer":         {"replacements": "replacements"},
	"ConfigMapGenerator":             {"": "-configMapGenerator"},
	"SecretGenerator":                {"": "-secretGenerator"},
}

// Read converts documents to kustomizations. at returns the place of a document's text. k is the kustomization
// that lists the documents, and file the content of the file in which they are written.
func Read(k *build.Kustomization, file []byte, written string, at func(text string, line int) *origin.Snippet) []*build.Kustomization {
	var out []*build.Kustomization
	for _, c := range tree.SplitChunks(tree.Normalize([]byte(written))) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(c.Text), &doc) != nil || len(doc.Content) == 0 {
			continue
		}
		s := at(c.Text, c.Line)
		moveNode(s, &doc, map[*yaml.Node]bool{})
		if b := kustomizationOf(doc.Content[0]); b != nil {
			b.Path, b.Dir, b.Data = s.Path, k.Dir, file
			out = append(out, b)
		}
	}
	return out
}

// moveNode sets the places of nodes to their places in the file.
func moveNode(s *origin.Snippet, n *yaml.Node, seen map[*yaml.Node]bool) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	pos := s.Position(n)
	n.Line, n.Column = pos.Line, pos.Column
	for _, child := range n.Content {
		moveNode(s, child, seen)
	}
}

// kustomizationOf converts a builtin's document to a kustomization; nil for other documents.
func kustomizationOf(doc *yaml.Node) *build.Kustomization {
	kind := origin.ScalarField(doc, "kind")
	fields := fieldsOf[kind]
	top := &yaml.Node{Kind: yaml.MappingNode, Line: doc.Line, Column: doc.Column}
	if patch, ok := origin.ChildOf(doc, "jsonOp", 0); ok && kind == "PatchJson6902Transformer" {
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "patch", Line: patch.Key.Line, Column: patch.Key.Column}, patch.Value)
	}
	for own, name := range fields {
		h := origin.Pair{Value: doc}
		if own != "" {
			h, _ = origin.ChildOf(doc, own, 0)
		}
		if h.Value != nil {
			setField(top, name, h)
		}
	}
	if metadata, ok := origin.ChildOf(doc, "metadata", 0); ok {
		switch namespace, ok := origin.ChildOf(metadata.Value, "namespace", 0); {
		case ok && kind == "NamespaceTransformer":
			setField(top, "namespace", namespace)
		case strings.HasSuffix(kind, "Generator"):
			if name, ok := origin.ChildOf(metadata.Value, "name", 0); ok {
				doc.Content = append(doc.Content, name.Key, name.Value)
			}
		}
	}
	if len(top.Content) == 0 {
		return nil
	}
	k := &build.Kustomization{Document: func() *yaml.Node { return top }}
	written, err := yaml.Marshal(top)
	if err != nil {
		return nil
	}
	if data, err := sigsyaml.YAMLToJSON(written); err == nil {
		_ = json.Unmarshal(data, &k.Spec) // fields of wrong types are not located
	}
	return k
}

// setField adds a field of a kustomization. Its key keeps the place of the builtin's key.
func setField(top *yaml.Node, name string, h origin.Pair) {
	key, value := &yaml.Node{Kind: yaml.ScalarNode}, h.Value
	if h.Key != nil {
		key.Line, key.Column = h.Key.Line, h.Key.Column
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
