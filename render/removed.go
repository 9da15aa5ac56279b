package render

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// mergeKeys are the fields by which strategic merge patches tell the elements of
// lists (x-kubernetes-patch-merge-key of the API).
var mergeKeys = []string{"name", "mountPath", "devicePath", "containerPort", "port", "ip", "key", "topologyKey", "type", "uid"}

const directive = "$patch"

// mergesFor are the strategic merge patches that an object went through, the last
// first.
func (l *locator) mergesFor(id identity) []mergePatch {
	var out []mergePatch
	for _, k := range id.through {
		for _, m := range slices.Backward(l.patchesIn(k).merges) {
			if m.isFor(id) {
				out = append(out, m)
			}
		}
	}
	return out
}

// removed finds the `null` or `$patch` that took a field away, or what it is in.
func (l *locator) removed(object int, document Position, path string) (Position, bool) {
	res := l.resources[object]
	steps := parsePath(path)
	hops, complete := descendPath(res.YNode(), steps)
	if complete {
		return Position{}, false
	}
	steps = canonical(hops, steps)
	id := l.identity(object, document)
	for _, m := range l.mergesFor(id) {
		if at := m.takes(steps, hops, l.existed(id, steps)); at != nil {
			return start(m.snippet.position(at)), true
		}
	}
	return Position{}, false
}

// takes finds the node of a patch by which a field is gone. Replacing a map takes
// away what another document had in it.
func (m mergePatch) takes(steps []fieldStep, hops []hop, existed func() bool) *yaml.Node {
	node := m.node
	for i, step := range steps {
		var now *yaml.Node
		if i < len(hops) {
			now = hops[i].value
		}
		next := below(node, step, now)
		switch {
		case next.value == nil:
			return nil
		case next.value.Tag == "!!null":
			return written(next)
		}
		if next.value.Kind == yaml.MappingNode {
			switch d, _ := field(next.value, directive, 0); {
			case d.value == nil:
			case d.value.Value == "delete", d.value.Value == "replace" && existed():
				return d.value
			}
		}
		node = next.value
	}
	return nil
}

// written is what to point at of a field that is null: its key, when nothing is
// written behind it.
func written(h hop) *yaml.Node {
	if h.key != nil && h.value.Value == "" {
		return h.key
	}
	return h.value
}

// below goes one step into a patch. now is the object's node there, by whose key
// an element of a list is told.
func below(node *yaml.Node, step fieldStep, now *yaml.Node) hop {
	if node.Kind == yaml.MappingNode {
		h, _ := field(node, step.key, 0)
		return h
	}
	for _, item := range node.Content {
		if now != nil && sameElement(unalias(item), now) {
			return hop{value: unalias(item)}
		}
	}
	return hop{}
}

// sameElement compares elements of lists by all the merge keys that both have.
func sameElement(a, b *yaml.Node) bool {
	same := false
	for _, key := range mergeKeys {
		if x, y := scalarField(a, key), scalarField(b, key); x != "" && y != "" {
			if same = x == y; !same {
				return false
			}
		}
	}
	return same
}

// existed tells whether any document of an object's files has a field of it.
func (l *locator) existed(id identity, steps []fieldStep) func() bool {
	return func() bool {
		for _, doc := range l.documents(id) {
			if _, complete := descendPath(doc, steps); complete {
				return true
			}
		}
		return false
	}
}

// documents are the documents of the closure that have an object's kind and name.
func (l *locator) documents(id identity) []*yaml.Node {
	var out []*yaml.Node
	type place struct {
		path string
		line int
	}
	seen := map[place]bool{} // a file may be in several builds
	for i := range l.padder.ranges {
		at := place{l.padder.ranges[i].snippet.path, l.padder.ranges[i].snippet.line}
		if seen[at] {
			continue
		}
		seen[at] = true
		if doc := l.padder.ranges[i].content(); doc != nil && id.isOf(doc) {
			out = append(out, doc)
		}
	}
	return out
}

// removals are the elements that patches took out of a list.
func (l *locator) removals(object int, document Position, path string) []Removal {
	res := l.resources[object]
	hops, complete := descendPath(res.YNode(), parsePath(path))
	if !complete || len(hops) == 0 || hops[len(hops)-1].value.Kind != yaml.SequenceNode {
		return nil
	}
	list := hops[len(hops)-1].value
	steps := canonical(hops, parsePath(path))
	var out []Removal
	id := l.identity(object, document)
	for _, m := range l.mergesFor(id) {
		out = append(out, l.takenOut(m, id, steps, hops, list)...)
	}
	return append(out, l.operatedOut(object, document, steps)...)
}

// takenOut are the elements that a strategic merge patch took out of a list.
func (l *locator) takenOut(m mergePatch, id identity, steps []fieldStep, hops []hop, list *yaml.Node) []Removal {
	node := m.node
	for i, step := range steps {
		if node = below(node, step, hops[i].value).value; node == nil {
			return nil
		}
	}
	var out []Removal
	for _, item := range node.Content {
		item := unalias(item)
		d, ok := field(item, directive, 0)
		if !ok || item.Kind != yaml.MappingNode {
			continue
		}
		at := start(m.snippet.position(d.value))
		for _, e := range l.elements(id, steps) {
			if d.value.Value == "delete" && sameElement(e, item) || d.value.Value == "replace" && !holds(list, e) {
				out = append(out, Removal{Element: plain(e), Position: at})
			}
		}
		if d.value.Value == "delete" { // of a document with another name, perhaps
			out = append(out, Removal{Element: withoutDirective(item), Position: at})
		}
	}
	return out
}

func withoutDirective(item *yaml.Node) any {
	element, _ := plain(item).(map[string]any)
	delete(element, directive)
	return element
}

func holds(list, element *yaml.Node) bool {
	return slices.ContainsFunc(list.Content, func(item *yaml.Node) bool { return sameElement(unalias(item), element) })
}

// elements are those of a list in the documents of an object that say what they
// are, not that they go.
func (l *locator) elements(id identity, steps []fieldStep) []*yaml.Node {
	var out []*yaml.Node
	for _, doc := range l.documents(id) {
		hops, complete := descendPath(doc, steps)
		if !complete || len(hops) == 0 || hops[len(hops)-1].value.Kind != yaml.SequenceNode {
			continue
		}
		for _, item := range hops[len(hops)-1].value.Content {
			item = unalias(item)
			if item.Kind != yaml.MappingNode {
				continue
			}
			if _, ok := field(item, directive, 0); !ok {
				out = append(out, item)
			}
		}
	}
	return out
}

// operatedOut are the elements that JSON6902 operations took out of a list, from
// the object as it was without such.
func (l *locator) operatedOut(object int, document Position, steps []fieldStep) []Removal {
	res := l.resources[object]
	if !reparsed(res.YNode()) {
		return nil
	}
	id := l.identity(object, document)
	var out []Removal
	for _, k := range id.through {
		for _, o := range slices.Backward(l.patchesIn(k).operations) {
			path := o.path
			if o.op == "move" {
				path = o.from
			}
			rest, leads := prefixOf(tokensOf(steps), stepsOf(path))
			if o.op != "remove" && o.op != "move" || !selects(o.target, id) || !leads || len(rest) != 1 {
				continue
			}
			out = append(out, Removal{Element: l.elementBefore(object, steps, rest[0]), Position: start(o.snippet.position(o.node))})
		}
	}
	return out
}

func (l *locator) elementBefore(object int, steps []fieldStep, step fieldStep) any {
	all := l.before()
	if all == nil {
		return nil
	}
	hops, complete := descendPath(all.Resources()[object].YNode(), append(slices.Clone(steps), step))
	if !complete {
		return nil
	}
	return plain(hops[len(hops)-1].value)
}

func tokensOf(steps []fieldStep) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.key)
	}
	return out
}

// plain is a node as JSON decodes it, nil when it has no such form.
func plain(n *yaml.Node) any {
	var v any
	if n.Decode(&v) != nil {
		return nil
	}
	v, err := fromYAML(v)
	if err != nil {
		return nil
	}
	return v
}
