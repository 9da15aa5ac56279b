package origin

import (
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// PathStep is one step of a field path: a key, or an index of a list. `[0]` may be either, depending on the
// value it is applied to.
type PathStep struct {
	Key     string
	Index   int
	Indexed bool // Key is a number in brackets
}

// ParsePath parses a field path in the form of the Kubernetes API:
// `spec.containers[0].image`, `metadata.labels[app.kubernetes.io/name]`.
func ParsePath(path string) []PathStep {
	var steps []PathStep
	for path != "" {
		if path[0] == '.' || path[:1] == textMark {
			path = path[1:]
			continue
		}
		if path[0] == '[' {
			var inner string
			inner, path = bracket(path)
			steps = append(steps, BracketStep(inner))
			continue
		}
		end := strings.IndexAny(path, ".["+textMark)
		if end < 0 {
			end = len(path)
		}
		steps = append(steps, PathStep{Key: path[:end]})
		path = path[end:]
	}
	return steps
}

// bracket cuts a leading `[inner]` off; a quoted inner may contain a bracket.
func bracket(path string) (inner, rest string) {
	if len(path) > 1 && (path[1] == '"' || path[1] == '\'') {
		if end := strings.Index(path[2:], string(path[1])+"]"); end >= 0 {
			return path[2 : 2+end], path[2+end+2:]
		}
	}
	end := strings.IndexByte(path, ']')
	if end < 0 {
		return path[1:], ""
	}
	return path[1:end], path[end+1:]
}

func BracketStep(inner string) PathStep {
	if i, err := strconv.Atoi(inner); err == nil && i >= 0 {
		return PathStep{Key: inner, Index: i, Indexed: true}
	}
	return PathStep{Key: inner}
}

// Pair is a node on the path to a field, with its key when it is a field of a mapping.
type Pair struct{ Key, Value *yaml.Node }

// Descend follows a field path from a node as far as it exists.
func Descend(node *yaml.Node, steps []PathStep) (hops []Pair, complete bool) {
	at := Unalias(node)
	for len(steps) > 0 {
		next, used := OneHop(at, steps)
		if used == 0 {
			return hops, false
		}
		hops = append(hops, next)
		at, steps = Unalias(next.Value), steps[used:]
	}
	return hops, true
}

// OneHop follows the first step, or several steps whose keys, joined by dots, are one key
// (`metadata.labels.app.kubernetes.io/name`).
func OneHop(node *yaml.Node, steps []PathStep) (next Pair, used int) {
	if node == nil {
		return Pair{}, 0
	}
	first := steps[0]
	if node.Kind == yaml.SequenceNode && first.Indexed && first.Index < len(node.Content) {
		return Pair{Value: Unalias(node.Content[first.Index])}, 1
	}
	if node.Kind != yaml.MappingNode {
		return Pair{}, 0
	}
	key := ""
	for i, s := range steps {
		if i > 0 {
			key += "."
		}
		key += s.Key
		if h, ok := ChildOf(node, key, 0); ok {
			return h, i + 1
		}
	}
	return Pair{}, 0
}

// ChildOf finds a key of a mapping, in the mapping itself or in those it merges (`<<`).
func ChildOf(node *yaml.Node, name string, depth int) (Pair, bool) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name && node.Content[i].Kind == yaml.ScalarNode {
			return Pair{node.Content[i], Unalias(node.Content[i+1])}, true
		}
	}
	if depth > tree.MaxLinks {
		return Pair{}, false
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Tag != "!!merge" {
			continue
		}
		for _, merged := range mergeSources(node.Content[i+1]) {
			if h, ok := ChildOf(merged, name, depth+1); ok {
				return h, true
			}
		}
	}
	return Pair{}, false
}

func mergeSources(node *yaml.Node) []*yaml.Node {
	node = Unalias(node)
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.MappingNode:
		return []*yaml.Node{node}
	}
	var out []*yaml.Node
	for _, child := range node.Content {
		if child = Unalias(child); child != nil && child.Kind == yaml.MappingNode {
			out = append(out, child)
		}
	}
	return out
}

func Unalias(node *yaml.Node) *yaml.Node {
	for i := 0; node != nil && node.Kind == yaml.AliasNode && i < tree.MaxLinks; i++ {
		node = node.Alias
	}
	return node
}

// Canonical returns the steps of hops, with keys that were split into several steps joined. Steps beyond hops
// stay unchanged.
func Canonical(hops []Pair, steps []PathStep) []PathStep {
	var out []PathStep
	for _, h := range hops {
		if len(steps) == 0 {
			break
		}
		step := steps[0]
		steps = steps[1:]
		for h.Key != nil && step.Key != h.Key.Value && len(steps) > 0 {
			step = PathStep{Key: step.Key + "." + steps[0].Key}
			steps = steps[1:]
		}
		out = append(out, step)
	}
	return append(out, steps...)
}

// IsIdentity reports whether a field identifies the object of a patch. Kustomize restores such a field after a
// patch, so no patch has written it.
func IsIdentity(steps []PathStep) bool {
	switch {
	case len(steps) == 1:
		return steps[0].Key == "apiVersion" || steps[0].Key == "kind"
	case len(steps) == 2 && steps[0].Key == "metadata":
		return steps[1].Key == "name" || steps[1].Key == "namespace"
	}
	return false
}
