package flux

import (
	"fmt"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// real converts a position in the overlay to one in the tree. A field of the generated kustomization is in the original
// file or in the unit's object.
func (u *unit) real(pos tree.Position) tree.Position {
	if i, ok := u.patchOf[pos.Path]; ok {
		return u.inText(fmt.Sprintf("spec.patches[%d].patch", i), pos)
	}
	if u.generated == nil || pos.Path != u.path {
		pos.Path = u.inTree(pos.Path)
		return pos
	}
	steps, offset := u.stepsAt(pos)
	if field := u.specField(steps); field != "" {
		return u.written(field)
	}
	if u.original == nil {
		if u.home != nil {
			return u.written("spec.path")
		}
		return tree.Position{Path: u.root.Dir}
	}
	return u.inOriginal(pos, steps, offset)
}

// isOfObject reports whether a position in the overlay is one in the unit's object.
func (u *unit) isOfObject(pos tree.Position) bool {
	if _, ok := u.patchOf[pos.Path]; ok {
		return true
	}
	if u.generated == nil || pos.Path != u.path {
		return false
	}
	steps, _ := u.stepsAt(pos)
	return u.specField(steps) != ""
}

// inText converts a position in the text of a field of the object to one in the tree.
func (u *unit) inText(field string, in tree.Position) tree.Position {
	at := u.written(field)
	return origin.InScalar(u.linesOf(at.Path), at, string(u.files[in.Path]), in)
}

// linesOf returns the lines of a file; nil if it cannot be read.
func (u *unit) linesOf(name string) []string {
	data, err := u.source.tree.Read(u.source.tree.RealOr(name))
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\n")
}

// stepsAt returns the path of the node at a position of the generated file. For a text of several lines, offset is the
// line in it, from 1.
func (u *unit) stepsAt(pos tree.Position) (steps []any, offset int) {
	best := -1
	var walk func(n *yaml.Node, path []any)
	visit := func(key, n *yaml.Node, path []any) {
		last := n.Line
		if n.Kind == yaml.ScalarNode && n.Style&yaml.LiteralStyle != 0 {
			last += strings.Count(n.Value, "\n") + 1
		}
		first := n.Line
		if key != nil {
			first = key.Line
		}
		if first <= pos.Line && pos.Line <= last {
			rank := len(path)*2 + 1
			if pos.Column > 0 && (n.Column == pos.Column && n.Line == pos.Line || key != nil && key.Column == pos.Column && key.Line == pos.Line) {
				rank += 1000
			}
			if rank > best {
				best, steps, offset = rank, append([]any{}, path...), max(pos.Line-n.Line, 0)
			}
		}
		walk(n, path)
	}
	walk = func(n *yaml.Node, path []any) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				visit(n.Content[i], n.Content[i+1], append(path, n.Content[i].Value))
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				visit(nil, item, append(path, i))
			}
		}
	}
	if root := u.document(); root != nil {
		walk(root, nil)
	}
	return steps, offset
}

// document returns the parsed generated file.
func (u *unit) document() *yaml.Node {
	u.parsing.Do(func() { u.parsed = tree.ParseFile(u.data) })
	return u.parsed
}

// nodes caches the parsed generated file.
type nodes struct {
	parsing sync.Once
	parsed  *yaml.Node
}

// specField returns the field of the object that a node of the generated file comes from; empty for nodes of the
// original file.
func (u *unit) specField(steps []any) string {
	if len(steps) == 0 {
		return ""
	}
	s := &u.object.Spec
	name, _ := steps[0].(string)
	index := -1
	if len(steps) > 1 {
		index, _ = steps[1].(int)
	}
	switch {
	case name == "namespace" && s.TargetNamespace != "":
		return "spec.targetNamespace"
	case name == "namePrefix" && s.NamePrefix != "", name == "nameSuffix" && s.NameSuffix != "":
		return "spec." + name
	case name == "buildMetadata" && len(s.BuildMetadata) > 0:
		return "spec.buildMetadata"
	case name == "patches" && index >= u.patches:
		return fmt.Sprintf("spec.patches[%d]", index-u.patches) + rest(steps[2:])
	case name == "components" && index >= u.components && index-u.components < len(u.added):
		return fmt.Sprintf("spec.components[%d]", u.added[index-u.components])
	case name == "images" && index >= 0 && index < len(u.images):
		return u.imageField(index, steps)
	}
	return ""
}

// imageField returns the field of the object that a field of an entry of `images:` comes from.
func (u *unit) imageField(index int, steps []any) string {
	of := u.images[index]
	if of < 0 {
		return ""
	}
	image := u.object.Spec.Images[of]
	field := ""
	if len(steps) > 2 {
		field, _ = steps[2].(string)
	}
	set := map[string]bool{"newName": image.NewName != "", "newTag": image.NewTag != "", "digest": image.Digest != "", "name": index >= u.ownImages, "": index >= u.ownImages}
	if !set[field] {
		return ""
	}
	return fmt.Sprintf("spec.images[%d]", of) + rest(steps[2:])
}

// rest returns steps as the end of a field path. A patch that is a file in the overlay is a text in the object.
func rest(steps []any) string {
	out := ""
	for _, step := range steps {
		switch step := step.(type) {
		case int:
			out += fmt.Sprintf("[%d]", step)
		case string:
			if step == "path" {
				step = "patch"
			}
			out += "." + step
		}
	}
	return out
}

// inOriginal returns the position in the original file of a node, or the nearest node around it. pos is its position in
// the generated file, and offset the line in a text of several lines.
func (u *unit) inOriginal(pos tree.Position, steps []any, offset int) tree.Position {
	node := tree.ParseFile(u.original)
	at := tree.Position{Path: u.inTree(u.path), Line: 1}
	for i, step := range steps {
		key, value := origin.Child(node, step)
		if value == nil {
			break
		}
		node = value
		shown := value
		if key != nil && value.Kind != yaml.ScalarNode {
			shown = key
		}
		at = tree.Position{Path: at.Path, Line: shown.Line, Column: shown.Column}
		if i == len(steps)-1 && offset > 0 && value.Kind == yaml.ScalarNode {
			at = u.inOriginalText(pos, at, value.Value, offset)
		}
	}
	return at
}

// inOriginalText converts a position of the generated file to one of the original file. It is in a text that begins at
// a position of the original file, and offset lines above pos in the generated one.
func (u *unit) inOriginalText(pos, at tree.Position, text string, offset int) tree.Position {
	in := tree.Position{Line: offset}
	if pos.Column > 0 {
		shift := origin.IndentAt(strings.Split(string(u.data), "\n"), pos.Line-offset+1)
		in.Column = pos.Column - shift
		if pos.EndLine == pos.Line {
			in.EndLine, in.EndColumn = offset, pos.EndColumn-shift
		}
	}
	return origin.InScalar(strings.Split(string(u.original), "\n"), at, text, in)
}
