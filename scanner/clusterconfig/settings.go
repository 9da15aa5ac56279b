package clusterconfig

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/scanner/release"
)

// Setting is a setting of an API server in one line of a file: one of Version, FeatureGates and
// RuntimeConfig.
type Setting struct {
	Path string
	// Line is the line of the value, from 1.
	Line int
	// Version is like v1.34.2, or v1.34 if the file has no patch version.
	Version string
	// FeatureGates and RuntimeConfig are the flags of the API server.
	FeatureGates, RuntimeConfig map[string]bool
}

// version matches a version in these files, with suffixes of distributions.
var version = regexp.MustCompile(`^v?(1\.[0-9]{1,3}(?:\.[0-9]{1,4})?)(?:[-+].*)?$`)

// versionOf parses a version; it returns "" for other texts, such as variables.
func versionOf(text string) string {
	parts := version.FindStringSubmatch(text)
	if parts == nil {
		return ""
	}
	return "v" + parts[1]
}

// gatesOf parses feature gates; it returns nil for other texts, such as variables.
func gatesOf(text string) map[string]bool {
	gates, err := release.ParseFeatureGates(text)
	if err != nil {
		return nil
	}
	return gates
}

// apisOf parses a runtime config; it returns nil for other texts.
func apisOf(text string) map[string]bool {
	apis, err := release.ParseRuntimeConfig(text)
	if err != nil {
		return nil
	}
	return apis
}

// at returns the value of a field, like spec.version; nil if there is none.
func at(n *yaml.Node, field string) *yaml.Node {
	for key := range strings.SplitSeq(field, ".") {
		if n = child(n, key); n == nil {
			return nil
		}
	}
	return n
}

// itemsAt returns the values of a field, like nodes.patches, in which lists stand for their items.
func itemsAt(n *yaml.Node, field string) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.SequenceNode {
		var all []*yaml.Node
		for _, item := range n.Content {
			all = append(all, itemsAt(item, field)...)
		}
		return all
	}
	if field == "" {
		return []*yaml.Node{n}
	}
	key, rest, _ := strings.Cut(field, ".")
	return itemsAt(child(n, key), rest)
}

// child returns the value of a key of a mapping; nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if value := n.Content[i+1]; n.Content[i].Value == key {
			if value.Kind == yaml.AliasNode {
				return value.Alias
			}
			return value
		}
	}
	return nil
}

// valueOf returns the text of a field; empty if there is none.
func valueOf(n *yaml.Node, field string) string {
	if n = at(n, field); n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// flag is a flag of the API server.
type flag struct {
	name, value string
	at          *yaml.Node
}

// flagsOf returns flags from a mapping, or from a list of names and values, as in kubeadm since v1beta4.
func flagsOf(n *yaml.Node) []flag {
	var all []flag
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			all = append(all, flag{n.Content[i].Value, listOf(n.Content[i+1]), n.Content[i+1]})
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if value := child(item, "value"); value != nil {
				all = append(all, flag{valueOf(item, "name"), value.Value, value})
			}
		}
	}
	return all
}

// listOf returns a list or a mapping in the format of a flag: a,b or a=true,b=false. A scalar is returned
// unchanged.
func listOf(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, item.Value)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+"="+n.Content[i+1].Value)
		}
	}
	return strings.Join(parts, ",")
}
