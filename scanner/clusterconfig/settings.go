package clusterconfig

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/scanner/release"
)

// Setting is what a line of a file configures for an API server: one of the three.
type Setting struct {
	Path string
	// Line is the line of the value, of the file's first line 1.
	Line int
	// Version is as v1.34.2, or v1.34 where the file says no more.
	Version string
	// FeatureGates and RuntimeConfig are the flags of the API server.
	FeatureGates, RuntimeConfig map[string]bool
}

// version is a version as these files have it, with what distributions add.
var version = regexp.MustCompile(`^v?(1\.[0-9]{1,3}(?:\.[0-9]{1,4})?)(?:[-+].*)?$`)

// versionOf reads a version; it is empty for what is none, like a variable.
func versionOf(text string) string {
	parts := version.FindStringSubmatch(text)
	if parts == nil {
		return ""
	}
	return "v" + parts[1]
}

// gatesOf reads feature gates; nil for what is none, like a variable.
func gatesOf(text string) map[string]bool {
	gates, err := release.ParseFeatureGates(text)
	if err != nil {
		return nil
	}
	return gates
}

// apisOf reads a runtime config; nil for what is none.
func apisOf(text string) map[string]bool {
	apis, err := release.ParseRuntimeConfig(text)
	if err != nil {
		return nil
	}
	return apis
}

// at returns the value of a field, like spec.version; nil where there is none.
func at(n *yaml.Node, field string) *yaml.Node {
	for key := range strings.SplitSeq(field, ".") {
		if n = child(n, key); n == nil {
			return nil
		}
	}
	return n
}

// child returns the value of a key of a mapping; nil where there is none.
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

// valueOf returns the text of a field; empty where there is none.
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

// flagsOf reads flags: a mapping, or a list with names and values, as kubeadm has it since v1beta4.
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

// listOf writes a list or a mapping as a flag has it: a,b or a=true,b=false. A text is returned as it is.
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
