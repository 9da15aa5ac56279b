package render

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fieldStep is one step of a field path: a key, or an index of a list. `[0]` may
// be either; what it is applied to decides.
type fieldStep struct {
	key     string
	index   int
	indexed bool // key is a number in brackets
}

// parsePath reads a field path as the Kubernetes API writes them:
// `spec.containers[0].image`, `metadata.labels[app.kubernetes.io/name]`.
func parsePath(path string) []fieldStep {
	var steps []fieldStep
	for path != "" {
		if path[0] == '.' {
			path = path[1:]
			continue
		}
		if path[0] == '[' {
			var inner string
			inner, path = bracket(path)
			steps = append(steps, bracketStep(inner))
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		steps = append(steps, fieldStep{key: path[:end]})
		path = path[end:]
	}
	return steps
}

// bracket cuts `[inner]` off the front; a quoted inner may hold a bracket.
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

func bracketStep(inner string) fieldStep {
	if i, err := strconv.Atoi(inner); err == nil && i >= 0 {
		return fieldStep{key: inner, index: i, indexed: true}
	}
	return fieldStep{key: inner}
}

// hop is a node on the way to a field, with its key when it is a field of a
// mapping.
type hop struct{ key, value *yaml.Node }

// descendPath follows a field path from a node as far as it goes.
func descendPath(node *yaml.Node, steps []fieldStep) (hops []hop, complete bool) {
	at := unalias(node)
	for len(steps) > 0 {
		next, used := oneHop(at, steps)
		if used == 0 {
			return hops, false
		}
		hops = append(hops, next)
		at, steps = unalias(next.value), steps[used:]
	}
	return hops, true
}

// oneHop takes the first step, or several whose keys only together, joined by
// dots, are a key (`metadata.labels.app.kubernetes.io/name`).
func oneHop(node *yaml.Node, steps []fieldStep) (next hop, used int) {
	if node == nil {
		return hop{}, 0
	}
	first := steps[0]
	if node.Kind == yaml.SequenceNode && first.indexed && first.index < len(node.Content) {
		return hop{value: unalias(node.Content[first.index])}, 1
	}
	if node.Kind != yaml.MappingNode {
		return hop{}, 0
	}
	key := ""
	for i, s := range steps {
		if i > 0 {
			key += "."
		}
		key += s.key
		if h, ok := field(node, key, 0); ok {
			return h, i + 1
		}
	}
	return hop{}, 0
}

// field finds a key of a mapping, in itself or in what it merges.
func field(node *yaml.Node, name string, depth int) (hop, bool) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name && node.Content[i].Kind == yaml.ScalarNode {
			return hop{node.Content[i], unalias(node.Content[i+1])}, true
		}
	}
	if depth > maxLinks {
		return hop{}, false
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Tag != "!!merge" {
			continue
		}
		for _, merged := range mergeSources(node.Content[i+1]) {
			if h, ok := field(merged, name, depth+1); ok {
				return h, true
			}
		}
	}
	return hop{}, false
}

func mergeSources(node *yaml.Node) []*yaml.Node {
	node = unalias(node)
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.MappingNode:
		return []*yaml.Node{node}
	}
	var out []*yaml.Node
	for _, child := range node.Content {
		if child = unalias(child); child != nil && child.Kind == yaml.MappingNode {
			out = append(out, child)
		}
	}
	return out
}

func unalias(node *yaml.Node) *yaml.Node {
	for i := 0; node != nil && node.Kind == yaml.AliasNode && i < maxLinks; i++ {
		node = node.Alias
	}
	return node
}

// canonical gives the steps that hops took, with keys that were written as
// several steps joined. What was not reached stays as it is.
func canonical(hops []hop, steps []fieldStep) []fieldStep {
	var out []fieldStep
	for _, h := range hops {
		if len(steps) == 0 {
			break
		}
		step := steps[0]
		steps = steps[1:]
		for h.key != nil && step.key != h.key.Value && len(steps) > 0 {
			step = fieldStep{key: step.key + "." + steps[0].key}
			steps = steps[1:]
		}
		out = append(out, step)
	}
	return append(out, steps...)
}
