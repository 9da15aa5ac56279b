package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// How the patches of a kustomization change a field of an object.

// patchEntries returns the entries of patches in the order of application.
func (c *replay) patchEntries(p *patchesOf) [][]any {
	var out [][]any
	for _, m := range p.merges {
		out = append(out, m.at)
	}
	for _, o := range p.operations {
		out = append(out, o.at)
	}
	order := []string{"patchesStrategicMerge", "patches", "patchesJson6902"}
	rank := func(at []any) (list, index int) {
		field, _ := at[0].(string)
		index, _ = at[1].(int)
		return slices.Index(order, field), index
	}
	slices.SortStableFunc(out, func(a, b []any) int {
		listA, indexA := rank(a)
		listB, indexB := rank(b)
		return cmp.Or(cmp.Compare(listA, listB), cmp.Compare(indexA, indexB))
	})
	return slices.CompactFunc(out, sameEntry)
}

func sameEntry(a, b []any) bool { return a[0] == b[0] && a[1] == b[1] }

// patch applies the patches of one entry. If it is uncertain whether a patch selects the object, the value
// becomes unknown.
func (c *replay) patch(p *patchesOf, at []any) {
	for i := range p.merges {
		m := &p.merges[i]
		if !sameEntry(m.at, at) || !c.selectedBy(m.target, m.node) {
			continue
		}
		if c.uncertain(m.target) {
			c.value.known = c.value.known && !c.touches(m)
		} else {
			c.merge(m)
		}
	}
	for i := range p.operations {
		o := &p.operations[i]
		if !sameEntry(o.at, at) || !c.selectedBy(o.target, nil) {
			continue
		}
		if c.uncertain(o.target) {
			c.invalidate(o.path)
		} else {
			c.operate(o)
		}
	}
}

// touches reports whether a patch would write or remove the field.
func (c *replay) touches(m *mergePatch) bool {
	was := slices.Clone(c.indexes)
	way, full := c.into(m.node, 0)
	c.indexes = was
	return full || slices.ContainsFunc(way, func(h origin.Pair) bool { at, _ := takenBy(h); return at != nil })
}

// selectedBy reports whether a patch is for the object. Kustomize compares past and present names and namespaces of
// the object.
func (c *replay) selectedBy(target *types.Selector, doc *yaml.Node) bool {
	if target == nil {
		if doc == nil || !c.id.isOf(doc) || origin.ScalarField(doc, "apiVersion") != c.id.resource.GetApiVersion() {
			return false
		}
		metadata, _ := origin.ChildOf(doc, "metadata", 0)
		return slices.ContainsFunc(c.spaces, func(s string) bool {
			return cmp.Or(s, "default") == cmp.Or(origin.ScalarField(metadata.Value, "namespace"), "default")
		})
	}
	gvk := c.id.resource.GetGvk()
	return (selects(target, c.id) || c.uncertain(target)) &&
		anchored(target.Group, gvk.Group) && anchored(target.Version, gvk.Version) && anchored(target.Kind, gvk.Kind) &&
		slices.ContainsFunc(c.spaces, func(s string) bool { return anchored(target.Namespace, s) })
}

// uncertain reports whether the labels or annotations that a patch selects by are unknown at this point: only
// those of the final object are known.
func (c *replay) uncertain(target *types.Selector) bool {
	return target != nil && (c.labelledLater(target.LabelSelector) || c.labelledLater(target.AnnotationSelector))
}

// labelledLater reports whether this or a later kustomization sets a label or annotation of a selector.
func (c *replay) labelledLater(selector string) bool {
	if selector == "" {
		return false
	}
	for _, s := range c.route.stages[c.at:] {
		for _, k := range s.layers() {
			for key := range labelKeys(k) {
				if strings.Contains(selector, key) {
					return true
				}
			}
		}
	}
	return false
}

// labelKeys returns the keys of the labels and annotations that a kustomization sets.
func labelKeys(k *build.Kustomization) map[string]bool {
	out := map[string]bool{}
	for _, pairs := range append([]types.Label{{Pairs: k.Spec.CommonLabels}, {Pairs: k.Spec.CommonAnnotations}}, k.Spec.Labels...) {
		for key := range pairs.Pairs {
			out[key] = true
		}
	}
	return out
}

// merge applies a strategic merge patch.
func (c *replay) merge(m *mergePatch) {
	was := slices.Clone(c.indexes)
	way, full := c.into(m.node, 0)
	for i := range c.indexes {
		switch {
		case i > len(way):
			c.indexes[i] = was[i]
		case c.keyless(i) && i < len(way): // kustomize replaces such lists
		case c.single(i) && (was[i] == 0 || i < len(way)):
			c.indexes[i] = 0
		case c.listAt(i):
			c.indexes[i] = -1 // kustomize puts new elements in front
		}
	}
	for _, h := range way {
		if at, all := takenBy(h); at != nil {
			c.drop(origin.Start(m.snippet.Position(at)))
			full = full && !all
		}
	}
	if full && (!c.identifies() || m.renames && c.is("metadata", "name")) {
		c.writes(way[len(way)-1], m.snippet)
	}
}

// takenBy returns the node of a patch that removes the previous value; all is set when nothing replaces it.
func takenBy(h origin.Pair) (at *yaml.Node, all bool) {
	if h.Value.Tag == "!!null" {
		return written(h), true
	}
	if h.Value.Kind != yaml.MappingNode {
		return nil, false
	}
	d, _ := origin.ChildOf(h.Value, origin.Directive, 0)
	if d.Value == nil || d.Value.Value != "delete" && d.Value.Value != "replace" {
		return nil, false
	}
	return d.Value, d.Value.Value == "delete"
}

// drop records that the field is gone.
func (c *replay) drop(at tree.Position) { c.value, c.taken = fieldValue{}, at }

// identifies reports whether the field is one of those that identify the object of a patch; kustomize keeps
// the object's own.
func (c *replay) identifies() bool {
	return c.is("apiVersion") || c.is("kind") || c.is("metadata", "name") || c.is("metadata", "namespace")
}

// writes sets the value from a patch.
func (c *replay) writes(h origin.Pair, s *origin.Snippet) {
	at, _ := origin.HopPosition(h, func(n *yaml.Node) (tree.Position, bool) { return s.Position(n), true })
	c.step(at, origin.StepPatch)
	c.holds(h.Value)
}

// listAt reports whether a step goes into a list.
func (c *replay) listAt(i int) bool { return i < len(c.hops) && c.hops[i].Key == nil }

// single reports whether the list that a step goes into has one element in the final object.
func (c *replay) single(i int) bool {
	return c.listAt(i) && i > 0 && len(c.hops[i-1].Value.Content) == 1
}

// operate applies an operation of a JSON6902 patch.
func (c *replay) operate(o *operation) {
	if o.op == "move" || o.op == "copy" {
		c.invalidate(o.path)
		if o.op == "move" {
			c.invalidate(o.from)
		}
		return
	}
	depth, sure := c.covers(o.path)
	switch {
	case depth == 0 || o.op == "test":
	case !sure:
		c.value.known = false
	case !c.listAt(depth - 1):
		c.overwrite(o, depth)
	case o.op == "add":
		c.insert(o, depth)
	case c.indexes[depth-1] < 0:
		c.value.known = false
	case o.op == "remove":
		c.remove(o, depth)
	case c.indexes[depth-1] == index(o.path):
		c.overwrite(o, depth)
	}
}

// covers returns how many of the field's steps a JSON pointer covers; 0 when it does not lead to the field.
// sure is false when it goes through an element of a list whose index is unknown. An index at the end of the
// pointer is not compared.
func (c *replay) covers(tokens []string) (depth int, sure bool) {
	if len(tokens) > len(c.steps) {
		return 0, true
	}
	sure = true
	for i, token := range tokens {
		switch {
		case !c.listAt(i):
			if token != c.steps[i].Key {
				return 0, true
			}
		case i == len(tokens)-1:
		case c.indexes[i] < 0:
			sure = false
		case token != strconv.Itoa(c.indexes[i]):
			return 0, true
		}
	}
	return len(tokens), sure
}

// index returns the last token of a pointer to an element of a list; -1 for `-`.
func index(tokens []string) int {
	n, err := strconv.Atoi(tokens[len(tokens)-1])
	if err != nil {
		return -1
	}
	return n
}

// insert adds an element to a list that the field goes through.
func (c *replay) insert(o *operation, depth int) {
	now, at := &c.indexes[depth-1], index(o.path)
	switch {
	case o.value.Value != nil && origin.SameElement(origin.Unalias(o.value.Value), c.hops[depth-1].Value):
		*now = at
		c.overwrite(o, depth)
	case *now >= 0 && at >= 0 && at <= *now:
		*now++
	}
}

// remove removes an element of a list that the field goes through.
func (c *replay) remove(o *operation, depth int) {
	now, at := &c.indexes[depth-1], index(o.path)
	switch {
	case *now == at:
		c.drop(origin.Start(o.snippet.Position(o.node)))
		*now = -1
	case at < *now:
		*now--
	}
}

// overwrite replaces the field, or a parent of it, with an operation's value, or removes it.
func (c *replay) overwrite(o *operation, depth int) {
	c.drop(origin.Start(o.snippet.Position(o.node)))
	if o.op == "remove" || o.value.Value == nil {
		return
	}
	way, full := c.into(o.value.Value, depth)
	if full {
		c.writes(append([]origin.Pair{o.value}, way...)[len(way)], o.snippet)
	}
}

// invalidate makes the value of a field unknown that an operation moves or copies.
func (c *replay) invalidate(tokens []string) {
	if depth, _ := c.covers(tokens); depth > 0 {
		c.value.known = false
		for i := range c.indexes {
			c.indexes[i] = -1
		}
	}
}
