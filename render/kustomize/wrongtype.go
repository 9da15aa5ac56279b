package kustomize

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

var wrongType = regexp.MustCompile(`json: cannot unmarshal (\w+) into Go (?:struct field \w+\.(\S+)|value) of type (\S+)`)

// wrongField explains a field of a kustomization whose value has the wrong type.
func wrongField(k *build.Kustomization, message string) (tree.Position, string, bool) {
	m := wrongType.FindStringSubmatch(message)
	if m == nil {
		return tree.Position{}, "", false
	}
	field := m[2]
	if field == "" {
		field = "the kustomization"
	}
	pos := tree.Position{Path: k.Path, Line: 1}
	steps := strings.Split(m[2], ".")
	n, part := findTyped(k.Document(), steps, m[1])
	if n != nil {
		pos.Line, pos.Column = n.Line, n.Column
	} else if m[2] != "" {
		pos = k.FieldPosition(steps[len(steps)-1])
	}
	text := fmt.Sprintf("%s%s is %s, and has to be %s", part, field, jsonWord(m[1]), typeWord(m[3]))
	if m[3] == "string" && m[1] != "array" && m[1] != "object" {
		text += ": quote it"
	}
	return pos, text, true
}

// findTyped returns the value of a field, in any item of the lists on the path, if it has a JSON type.
// Otherwise it returns a part of the value that has the type, and a description of that part.
func findTyped(n *yaml.Node, steps []string, typ string) (found *yaml.Node, part string) {
	switch {
	case len(steps) == 0 && jsonType(n) == typ:
		if inner := valueTyped(n, typ); typ == "object" && inner != nil { // a map of maps
			return inner, "a value of "
		}
		return n, ""
	case len(steps) > 0 && n.Kind == yaml.MappingNode:
		return findTyped(child(n, steps[0]), steps[1:], typ)
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if found, part := findTyped(item, steps, typ); found != nil {
				if len(steps) == 0 && part == "" {
					part = "an item of "
				}
				return found, part
			}
		}
	}
	if inner := valueTyped(n, typ); inner != nil && len(steps) == 0 {
		return inner, "a value of "
	}
	return nil, ""
}

// valueTyped returns the first value of a map that has a JSON type.
func valueTyped(n *yaml.Node, typ string) *yaml.Node {
	for i := 1; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if jsonType(n.Content[i]) == typ {
			return n.Content[i]
		}
	}
	return nil
}

func jsonType(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "object"
	case n.Kind == yaml.SequenceNode:
		return "array"
	case n.ShortTag() == "!!int", n.ShortTag() == "!!float":
		return "number"
	case n.ShortTag() == "!!bool":
		return "bool"
	}
	return "string"
}

func jsonWord(typ string) string {
	switch typ {
	case "object":
		return "a map"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	}
	return "a " + typ
}

func typeWord(typ string) string {
	switch {
	case typ == "[]string":
		return "a list of strings"
	case typ == "map[string]string":
		return "a map of strings"
	case strings.HasPrefix(typ, "[]"):
		return "a list"
	case strings.HasPrefix(typ, "int"):
		return "a whole number"
	case typ == "string":
		return "a string"
	case typ == "bool":
		return "true or false"
	}
	return "a map"
}
