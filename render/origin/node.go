package origin

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func ScalarField(node *yaml.Node, name string) string {
	if node == nil || node.Kind != yaml.MappingNode {
		return ""
	}
	h, ok := ChildOf(node, name, 0)
	if !ok {
		return ""
	}
	return h.Value.Value
}

// Child follows one step, a field name or a list index, into a node. It compares field names as encoding/json
// does, because kustomize decodes with it.
func Child(node *yaml.Node, step any) (key, value *yaml.Node) {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node == nil {
		return nil, nil
	}
	switch step := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && step < len(node.Content) {
			return nil, node.Content[step]
		}
	case string:
		if node.Kind != yaml.MappingNode {
			return nil, nil
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if strings.EqualFold(node.Content[i].Value, step) {
				key, value = node.Content[i], node.Content[i+1]
			}
		}
	}
	return key, value
}

// MergeKeys are the fields by which strategic merge patches match the elements of lists
// (x-kubernetes-patch-merge-key of the API).
var MergeKeys = []string{"name", "mountPath", "devicePath", "containerPort", "port", "ip", "key", "topologyKey", "type", "uid"}

// SameElement reports whether two elements of lists agree in all merge keys that both have, and have one in
// common.
func SameElement(a, b *yaml.Node) bool {
	same, comparable := compareElements(a, b)
	return same && comparable
}

// OtherElement reports whether two elements of lists have different values of a merge key.
func OtherElement(a, b *yaml.Node) bool {
	same, comparable := compareElements(a, b)
	return !same && comparable
}

func compareElements(a, b *yaml.Node) (same, comparable bool) {
	same = true
	for _, key := range MergeKeys {
		if x, y := ScalarField(a, key), ScalarField(b, key); x != "" && y != "" {
			same, comparable = same && x == y, true
		}
	}
	return same, comparable
}

const Directive = "$patch"

// KeepLast removes all but the last of repeated keys in a node.
func KeepLast(n *yaml.Node) {
	if n == nil {
		return
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := len(n.Content) - 2; i >= 0; i -= 2 {
			if key := n.Content[i]; key.Kind == yaml.ScalarNode && key.Tag != "!!merge" {
				if seen[key.Value] {
					n.Content = slices.Delete(n.Content, i, i+2)
				}
				seen[key.Value] = true
			}
		}
	}
	for _, inner := range n.Content {
		KeepLast(inner)
	}
}
