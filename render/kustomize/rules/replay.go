package rules

import (
	"slices"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
)

// replay applies all changes to a field of an object in kustomize's order and keeps the field's value after
// each. Its result is used only when it ends with the value that the object has.
type replay struct {
	l        *locator
	object   int
	document tree.Position
	route    *route
	id       identity // with the names so far
	loose    bool     // even these names are uncertain
	spaces   []string // the namespaces so far
	steps    []origin.PathStep
	hops     []origin.Pair // in the final object
	indexes  []int         // of list elements, so far; -1 if unknown
	part     origin.Part
	value    fieldValue
	at       int // index of the current stage
	out      []origin.Step
	guessed  bool          // whether a list element was matched only by its index
	taken    tree.Position // of what removed the field, if anything
}

// fieldValue is the value of a field at some point.
type fieldValue struct {
	there bool
	// known is set when text is the value of a scalar; opaque for values that generators read from files and
	// literals.
	known, opaque bool
	text          string
}

func (l *locator) newReplay(object int, document tree.Position, r *route, path string, part origin.Part) *replay {
	res := l.resources[object]
	steps := origin.ParsePath(path)
	hops, _ := origin.Descend(res.YNode(), steps)
	c := &replay{
		l: l, object: object, document: document, route: r, part: part,
		id: l.identity(object, document), steps: origin.Canonical(hops, steps), hops: hops,
	}
	c.indexes = slices.Repeat([]int{-1}, len(c.steps))
	name, namespace := l.written(object, document)
	c.spaces = []string{namespace}
	if c.loose = !l.fits(object, document, r); !c.loose {
		c.id.names = []string{name}
	}
	return c
}

func (c *replay) run() {
	if !c.l.isGenerated(c.object) {
		c.begin()
	}
	for i, s := range c.route.stages {
		c.at = i
		for _, k := range s.layers() {
			if s.generates {
				c.generate(k)
			} else {
				c.transform(k)
			}
		}
	}
}

// begin sets the value from the object's own document.
func (c *replay) begin() {
	own := c.l.ownDocument(c.object, c.document)
	if own == nil {
		return
	}
	way, full := c.into(own.node, 0)
	at := c.document
	if len(way) > 0 {
		at, _ = origin.HopPosition(way[len(way)-1], own.place)
	}
	c.step(at, origin.StepResource)
	if c.out[0].Absent = !full; full {
		c.holds(way[len(way)-1].Value)
	}
}

func (d *ownDocument) place(n *yaml.Node) (tree.Position, bool) { return d.snippet.Position(n), true }

func (c *replay) step(at tree.Position, kind origin.StepKind) {
	by := c.route.stages[c.at]
	s := origin.Step{Position: at, Kind: kind, Kustomization: by.k.Path, Component: by.component}
	if n := len(c.out); n > 0 && origin.SameLine(c.out[n-1].Position, at) {
		c.out = c.out[:n-1]
	}
	c.out = append(c.out, s)
}

// holds sets the value to that of a node.
func (c *replay) holds(n *yaml.Node) {
	c.value = fieldValue{there: true, known: n.Kind == yaml.ScalarNode, text: n.Value}
}

// set records that a transformer set the value to a text.
func (c *replay) set(text string, at tree.Position, kind origin.StepKind) {
	c.step(at, kind)
	c.value = fieldValue{there: true, known: true, text: text}
}

// into follows the field's steps, beginning with step from, into a node that was written. It finds elements of
// lists by their merge keys and records their indexes.
func (c *replay) into(node *yaml.Node, from int) (way []origin.Pair, full bool) {
	node = origin.Unalias(node)
	for i := from; i < len(c.steps) && node != nil; i++ {
		var next origin.Pair
		if node.Kind == yaml.SequenceNode && i < len(c.hops) {
			next.Value, c.indexes[i] = c.element(node, i)
		} else if node.Kind == yaml.MappingNode {
			next, _ = origin.ChildOf(node, c.steps[i].Key, 0)
		}
		if next.Value == nil {
			return way, false
		}
		way, node = append(way, next), next.Value
	}
	return way, node != nil
}

// element returns the element of a list that the field goes through, found by its merge keys, and its index.
// Without merge keys it is the element of the same index, which agrees checks later.
func (c *replay) element(list *yaml.Node, i int) (element *yaml.Node, at int) {
	if c.keyless(i) {
		if at = c.steps[i].Index; at < len(list.Content) {
			c.guessed = true
			return origin.Unalias(list.Content[at]), at
		}
		return nil, -1
	}
	at = -1
	for n, item := range list.Content {
		if item = origin.Unalias(item); item == nil || !origin.SameElement(item, c.hops[i].Value) {
			continue
		}
		if element != nil {
			return nil, -1
		}
		element, at = item, n
	}
	return element, at
}

// keyless reports whether a step goes to an element of a list that has no merge key.
func (c *replay) keyless(i int) bool {
	return c.listAt(i) && !slices.ContainsFunc(origin.MergeKeys, func(key string) bool {
		return origin.ScalarField(c.hops[i].Value, key) != ""
	})
}

// transform applies a kustomization's changes to the object in kustomize's order
// (configureBuiltinTransformers).
func (c *replay) transform(k *build.Kustomization) {
	p := c.l.patchesIn(k)
	for _, at := range c.patchEntries(p) {
		if at[0] != "patchesJson6902" {
			c.patch(p, at)
		}
	}
	c.namespaced(k)
	c.named(k)
	c.labelled(k)
	for _, at := range c.patchEntries(p) {
		if at[0] == "patchesJson6902" {
			c.patch(p, at)
		}
	}
	c.replicated(k)
	c.imaged(k)
}
