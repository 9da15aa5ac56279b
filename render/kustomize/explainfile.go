package kustomize

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// mappingAsKey explains a YAML file with mappings as keys.
func (r *Source) mappingAsKey(failure string, c *build.Closure) (tree.Position, string, bool) {
	if !templateKey.MatchString(failure) {
		return tree.Position{}, "", false
	}
	pos, ok := r.findNode(c, func(e build.Entry) bool { return e.Kind != build.RefFile }, func(n *yaml.Node) *yaml.Node {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Kind == yaml.MappingNode {
				return n.Content[i]
			}
		}
		return nil
	})
	return pos, sentence(failure), ok
}

// unknownSetting explains a file of `configurations` with an unknown field.
func (r *Source) unknownSetting(failure string, c *build.Closure) (tree.Position, string, bool) {
	m := unknownField.FindStringSubmatch(failure)
	if m == nil {
		return tree.Position{}, "", false
	}
	isConfiguration := func(e build.Entry) bool { return len(e.At) > 0 && e.At[0] == "configurations" }
	// A known field of the whole file, such as namespace, may be unknown inside of a list.
	for _, within := range []yaml.Kind{yaml.SequenceNode, 0} {
		pos, ok := r.findNode(c, isConfiguration, func(n *yaml.Node) *yaml.Node {
			if within != 0 && n.Kind != within {
				return nil
			}
			return build.FindKey(n, m[1])
		})
		if ok {
			return pos, fmt.Sprintf("a configuration of kustomize has no field %q there", m[1]), true
		}
	}
	return tree.Position{}, "", false
}

// findNode returns the position of the first node that find returns, in the files of a closure's entries that
// isIn selects.
func (r *Source) findNode(c *build.Closure, isIn func(build.Entry) bool, find func(*yaml.Node) *yaml.Node) (tree.Position, bool) {
	for _, e := range c.Entries {
		if !isIn(e) {
			continue
		}
		real, data, ok := r.readEntry(e)
		if !ok {
			continue
		}
		for _, chunk := range tree.SplitChunks(tree.Normalize(data)) {
			document := tree.ParseFile([]byte(chunk.Text))
			if document == nil {
				continue
			}
			if at := firstNode(document, find); at != nil {
				return tree.Position{Path: real, Line: chunk.Line + at.Line, Column: at.Column}, true
			}
		}
	}
	return tree.Position{}, false
}

func firstNode(n *yaml.Node, find func(*yaml.Node) *yaml.Node) *yaml.Node {
	if at := find(n); at != nil {
		return at
	}
	for _, child := range n.Content {
		if at := firstNode(child, find); at != nil {
			return at
		}
	}
	return nil
}
