package locate

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
)

// around returns the place of the mapping or list among the values from which a template wrote a field, or the
// nearest parent of a missing one, as with toYaml: its key, or the item of a list. If a field is missing as a
// whole, an empty mapping or list may be the reason.
func (l *fieldSearch) around() (place origin.Place, ok bool) {
	if l.missing == nil && !l.whole || l.made.Document == nil || l.node == nil {
		return place, false
	}
	if _, _, inText := origin.CutText(l.field); inText {
		return place, false
	}
	leaf := l.holder()
	if leaf == nil {
		return place, false
	}
	if place, ok = l.writtenAt(leaf); ok {
		place = origin.Place{Position: place.Position, Evidence: origin.Nearest, Why: place.Why}
	}
	if ok && l.there {
		text := l.placeOf(nil)
		place.Evidence, place.Text = origin.Inferred, &text
	}
	return place, ok
}

// holder returns the leaf whose place around returns.
func (l *fieldSearch) holder() *Leaf {
	field, n, missing := nearestField(l.node, l.field)
	own, blocks := l.made.Document.File.Action(l.content)
	steps, scalar := firstScalar(n)
	switch {
	case isEmpty(n):
		return l.emptied(field)
	case scalar != nil && (own != nil || n.Kind == yaml.SequenceNode && len(blocks) > 0): // its items may be those of a list
		return l.above(field, steps, scalar)
	case own == nil && missing != "":
		return l.emptied(origin.AppendKey(field, missing))
	}
	return nil
}

// above returns the leaf that decides a scalar in a field, for the mapping or list that the steps to the
// scalar lead from.
func (l *fieldSearch) above(field string, steps []any, scalar *yaml.Node) *Leaf {
	at := FieldOf(field, steps)
	value, found := origin.Field(l.made.Document.Content(), at)
	if !found {
		return nil
	}
	leaf, _ := l.object.search(at, origin.Whole, value, true).deciding()
	if leaf == nil || leaf.Builtin || len(leaf.Path) <= len(steps) || !slices.Equal(leaf.Path[len(leaf.Path)-len(steps):], steps) {
		return nil
	}
	up := *leaf
	up.above = len(steps)
	return &up
}

// emptyTries limits the empty mappings and lists tried for a field.
const emptyTries = 2

// emptied returns the empty mapping or list among the values because of which a field is empty or missing.
func (l *fieldSearch) emptied(field string) *Leaf {
	likely := byRank(l.empties(), func(leaf *Leaf) int {
		if rank := l.rank(leaf); rank >= readAround {
			return rank
		}
		return 0
	})
	for _, leaf := range likely[:min(len(likely), emptyTries)] {
		if _, written := l.writtenAt(leaf); written && l.effect(leaf, field) == changed {
			return leaf
		}
	}
	return nil
}

// empties returns the empty mappings and lists among the values, computed once.
func (t *Tracer) empties() []*Leaf {
	if t.hollow == nil {
		t.hollow = []*Leaf{}
		for _, l := range leavesOf(t.Release.Values, t.defaults(), isHollow) {
			if isHollow(l.Value) {
				t.hollow = append(t.hollow, l)
			}
		}
	}
	return t.hollow
}

// isHollow reports whether a value is an empty mapping or list.
func isHollow(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// filled returns a non-empty mapping or list to replace an empty one.
func filled(v any) (any, bool) {
	switch {
	case !isHollow(v):
		return nil, false
	case strings.HasPrefix(Text(v), "map"):
		return map[string]any{"x": "x"}, true
	}
	return []any{"x"}, true
}

// isEmpty reports whether a node is null, or an empty mapping or list.
func isEmpty(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		return len(n.Content) == 0
	}
	return n.Tag == "!!null"
}

// nearestField returns the innermost existing node on the path to a field, that node's field, and the first
// missing key; empty for an item of a list.
func nearestField(n *yaml.Node, field string) (at string, found *yaml.Node, missing string) {
	steps := origin.ParsePath(field)
	for len(steps) > 0 {
		next, used := child(n, steps)
		if next == nil {
			if !steps[0].Indexed {
				missing = steps[0].Key
			}
			break
		}
		if steps[0].Indexed {
			at = FieldOf(at, []any{steps[0].Index})
		} else {
			at = origin.AppendKey(at, joined(steps[:used]))
		}
		n, steps = next, steps[used:]
	}
	return at, n, missing
}

// firstScalar returns the first scalar in a node, and the steps to it; nil if there is none.
func firstScalar(n *yaml.Node) (steps []any, scalar *yaml.Node) {
	switch n = origin.Unalias(n); n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if below, scalar := firstScalar(n.Content[i+1]); scalar != nil {
				return append([]any{n.Content[i].Value}, below...), scalar
			}
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if below, scalar := firstScalar(item); scalar != nil {
				return append([]any{i}, below...), scalar
			}
		}
	case yaml.ScalarNode:
		return nil, n
	}
	return nil, nil
}
