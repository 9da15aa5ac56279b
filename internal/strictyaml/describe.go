package strictyaml

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// tag returns the type of a node in the decoder's version of YAML, like "!!str".
func (d *decoder) tag(n *yaml.Node) string {
	if d.manifest && isOldBool(n) {
		return "!!bool"
	}
	return n.ShortTag()
}

// isOldBool reports whether a node is a boolean in YAML 1.1 but a string in YAML 1.2: a plain
// yes or off.
func isOldBool(n *yaml.Node) bool {
	switch strings.ToLower(n.Value) {
	case "yes", "no", "on", "off":
		var v any
		err := sigsyaml.Unmarshal([]byte(n.Value), &v)
		_, isBool := v.(bool)
		return n.Kind == yaml.ScalarNode && n.Style == 0 && err == nil && isBool
	}
	return false
}

// describe describes a node for the author of the file.
func (d *decoder) describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch tag := d.tag(n); tag {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the boolean " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!str":
		return fmt.Sprintf("the string %q", n.Value)
	default:
		return "a " + strings.TrimPrefix(tag, "!!")
	}
}

// describeUnquoted is describe for a string field: it suggests quotes.
func (d *decoder) describeUnquoted(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || d.tag(n) == "!!null" {
		return d.describe(n)
	}
	return d.describe(n) + " (quote it)"
}
