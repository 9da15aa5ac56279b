package rules

import (
	"slices"
	"strconv"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// A strategic merge patch puts its elements in front of a list, so that the indexes in JSON6902 operations
// before it do not match the list as it is now.

// reordering is a strategic merge patch with a list that is on the path to a field.
type reordering struct {
	kustomization int // in identity.kustomizations
	at            []any
}

// reorderings returns the reorderings that an object went through.
func (l *locator) reorderings(id identity, steps []origin.PathStep, nodes []origin.Pair) []reordering {
	var out []reordering
	if !slices.ContainsFunc(steps, func(s origin.PathStep) bool { return s.Indexed }) {
		return nil
	}
	for i, k := range id.kustomizations {
		for _, m := range l.patchesIn(k).merges {
			if m.isFor(id) && m.hasList(steps, nodes) {
				out = append(out, reordering{i, m.at})
			}
		}
	}
	return out
}

// hasList reports whether a patch has a list that is on the path to a field.
func (m mergePatch) hasList(steps []origin.PathStep, nodes []origin.Pair) bool {
	node := m.node
	for i, step := range steps {
		if node.Kind == yaml.SequenceNode {
			return true
		}
		if i >= len(nodes) {
			return false
		}
		if node = below(node, step, nodes[i].Value).Value; node == nil {
			return false
		}
	}
	return false
}

// since reports whether the order of a list may have changed since a kustomization applied the operations of
// an entry.
func since(all []reordering, kustomization int, at []any) bool {
	return slices.ContainsFunc(all, func(r reordering) bool {
		return r.kustomization < kustomization || r.kustomization == kustomization && follows(r.at, at)
	})
}

// follows reports whether kustomize applies patch entry a after entry b.
func follows(a, b []any) bool {
	fields := []any{"patchesStrategicMerge", "patches", "patchesJson6902"}
	x, y := slices.Index(fields, a[0]), slices.Index(fields, b[0])
	if x != y {
		return x > y
	}
	i, _ := a[1].(int)
	j, _ := b[1].(int)
	return i > j
}

// guess returns the place in the value that an operation wrote into some element of the list, if it equals the
// field's value.
func (h *fieldHistory) guess(o *operation) (tree.Position, bool) {
	if h.leaf == nil || o.value.Value == nil || o.op != "add" && o.op != "replace" || len(o.path) == 0 || len(o.path) > len(h.steps) {
		return tree.Position{}, false
	}
	for i, token := range o.path {
		_, err := strconv.Atoi(token)
		if s := h.steps[i]; token != s.Key && !(s.Indexed && (err == nil || token == "-")) {
			return tree.Position{}, false
		}
	}
	rest := h.steps[len(o.path):]
	if !h.is(o, len(rest)) {
		return tree.Position{}, false
	}
	pos, found, _ := h.in(o, rest)
	return pos, found
}

// byIndex reports whether an operation's path uses the index of an element on the path to a field.
func (o *operation) byIndex(steps []origin.PathStep) bool {
	for i, token := range o.path {
		if i >= len(steps) {
			return false
		}
		if token == steps[i].Key {
			if steps[i].Indexed {
				return true
			}
			continue
		}
		return steps[i].Indexed
	}
	return false
}

// followed returns the place of the last step of the field's replay, if the replay results in the value of the
// field.
func (l *locator) followed(object int, document tree.Position, path string) (tree.Position, bool) {
	r := l.routeOf(object, document)
	if r == nil {
		return tree.Position{}, false
	}
	c := l.newReplay(object, document, r, path, origin.Whole)
	c.run()
	if len(c.out) == 0 || !c.agrees() || c.out[len(c.out)-1].Absent {
		return tree.Position{}, false
	}
	return c.out[len(c.out)-1].Position, true
}

// aligned returns the steps to a field in the object's previous form, with elements of lists found by their
// merge keys or values. They lead nowhere if such an element did not exist.
func (h *fieldHistory) aligned(old *yaml.Node) []origin.PathStep {
	out, at := slices.Clone(h.steps), old
	for i := range out {
		if i >= len(h.nodes) || at == nil {
			return out
		}
		if at.Kind == yaml.SequenceNode {
			now := h.nodes[i].Value
			same := func(n *yaml.Node) bool { return sameItem(n, now) }
			j, known := slices.IndexFunc(at.Content, same), out[i].Index < len(at.Content)
			switch {
			case known && now.Kind == yaml.ScalarNode && same(at.Content[out[i].Index]): // several may be equal
			case j >= 0:
				out[i] = origin.PathStep{Key: strconv.Itoa(j), Index: j, Indexed: true}
			case known && origin.OtherElement(origin.Unalias(at.Content[out[i].Index]), now):
				out[i].Index = len(at.Content)
			}
		}
		next, _ := origin.OneHop(at, out[i:i+1])
		at = next.Value
	}
	return out
}
