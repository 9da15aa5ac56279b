package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// course follows a field of an object through all that is applied to it, with the
// value it has at each point. What it says is taken for true only when it ends with
// the value the object has.
type course struct {
	l        *locator
	object   int
	document Position
	route    *route
	id       identity // with the names it had so far
	loose    bool     // not even they are sure
	spaces   []string // the namespaces it had so far
	steps    []fieldStep
	hops     []hop // in the object as it is in the end
	indexes  []int // of elements of lists, as they are now; -1 when not known
	part     Part
	value    fieldValue
	at       int // the stage
	out      []Step
	taken    Position // of what took the field away, if anything did
}

// fieldValue is the value of a field at some point.
type fieldValue struct {
	there bool
	// known is set when text is the value of a scalar; opaque for what generators make
	// of files and literals.
	known, opaque bool
	text          string
}

func (l *locator) newCourse(object int, document Position, r *route, path string, part Part) *course {
	res := l.resources[object]
	steps := parsePath(path)
	hops, _ := descendPath(res.YNode(), steps)
	c := &course{
		l: l, object: object, document: document, route: r, part: part,
		id: l.identity(object, document), steps: canonical(hops, steps), hops: hops,
	}
	c.indexes = slices.Repeat([]int{-1}, len(c.steps))
	name, namespace := l.written(object, document)
	c.spaces = []string{namespace}
	if c.loose = !l.fits(object, document, r); !c.loose {
		c.id.names = []string{name}
	}
	return c
}

func (c *course) run() {
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

// begin takes the field from the object's own document.
func (c *course) begin() {
	own := c.l.ownDocument(c.object, c.document)
	if own == nil {
		return
	}
	way, full := c.into(own.node, 0)
	at := c.document
	if len(way) > 0 {
		at, _ = hopPosition(way[len(way)-1], own.place)
	}
	c.step(at, StepResource)
	if full {
		c.holds(way[len(way)-1].value)
	}
}

func (d *ownDocument) place(n *yaml.Node) (Position, bool) { return d.snippet.position(n), true }

func (c *course) step(at Position, kind StepKind) {
	by := c.route.stages[c.at]
	s := Step{Position: at, Kind: kind, Kustomization: by.k.path, Component: by.component}
	if n := len(c.out); n > 0 && sameSpot(c.out[n-1].Position, at) {
		c.out = c.out[:n-1]
	}
	c.out = append(c.out, s)
}

// holds notes what a node says.
func (c *course) holds(n *yaml.Node) {
	c.value = fieldValue{there: true, known: n.Kind == yaml.ScalarNode, text: n.Value}
}

// set notes that a transformer wrote a text.
func (c *course) set(text string, at Position, kind StepKind) {
	c.step(at, kind)
	c.value = fieldValue{there: true, known: true, text: text}
}

// into follows the field, from one of its steps on, into a node that was written, as
// far as it is surely the same: elements of lists by their merge keys. It notes their
// indexes.
func (c *course) into(node *yaml.Node, from int) (way []hop, full bool) {
	node = unalias(node)
	for i := from; i < len(c.steps) && node != nil; i++ {
		var next hop
		if node.Kind == yaml.SequenceNode && i < len(c.hops) {
			next.value, c.indexes[i] = uniqueElement(node, c.hops[i].value)
		} else if node.Kind == yaml.MappingNode {
			next, _ = field(node, c.steps[i].key, 0)
		}
		if next.value == nil {
			return way, false
		}
		way, node = append(way, next), next.value
	}
	return way, node != nil
}

// uniqueElement is the element of a list that one of another list surely is.
func uniqueElement(list, like *yaml.Node) (element *yaml.Node, index int) {
	index = -1
	for i, item := range list.Content {
		if item = unalias(item); like == nil || !sameItem(item, like) {
			continue
		}
		if element != nil {
			return nil, -1
		}
		element, index = item, i
	}
	return element, index
}

// sameItem tells elements of lists by their merge keys, scalars by what they are.
func sameItem(a, b *yaml.Node) bool {
	return a != nil && (sameElement(a, b) || b.Kind == yaml.ScalarNode && sameNode(a, b))
}

// transform applies what a kustomization does to the object, in the order in which
// kustomize does (configureBuiltinTransformers).
func (c *course) transform(k *kustomization) {
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

// patchEntries are the entries of patches in order.
func (c *course) patchEntries(p *patchesOf) [][]any {
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

// patch applies the patches of one entry.
func (c *course) patch(p *patchesOf, at []any) {
	for i := range p.merges {
		if m := &p.merges[i]; sameEntry(m.at, at) && c.meant(m.target, m.node) {
			c.merge(m)
		}
	}
	for i := range p.operations {
		if o := &p.operations[i]; sameEntry(o.at, at) && c.meant(o.target, nil) {
			c.operate(o)
		}
	}
}

// meant tells whether a patch is surely for the object. Kustomize compares the
// names and namespaces an object has had.
func (c *course) meant(target *types.Selector, doc *yaml.Node) bool {
	gvk := c.id.resource.GetGvk()
	if target == nil {
		if doc == nil || !c.id.isOf(doc) || scalarField(doc, "apiVersion") != c.id.resource.GetApiVersion() {
			return false
		}
		metadata, _ := field(doc, "metadata", 0)
		return slices.ContainsFunc(c.spaces, func(s string) bool {
			return cmp.Or(s, "default") == cmp.Or(scalarField(metadata.value, "namespace"), "default")
		})
	}
	if c.labelledLater(target.LabelSelector) {
		c.value.known = false
		return false
	}
	return selects(target, c.id) && anchored(target.Group, gvk.Group) && anchored(target.Version, gvk.Version) &&
		slices.ContainsFunc(c.spaces, func(s string) bool { return anchored(target.Namespace, s) })
}

// labelledLater tells whether this or a later kustomization sets a label that a
// selector asks for: only the labels that the object ends up with are known.
func (c *course) labelledLater(selector string) bool {
	if selector == "" {
		return false
	}
	for _, s := range c.route.stages[c.at:] {
		for _, k := range s.layers() {
			for _, label := range append(k.spec.Labels[:len(k.spec.Labels):len(k.spec.Labels)], types.Label{Pairs: k.spec.CommonLabels}) {
				for key := range label.Pairs {
					if strings.Contains(selector, key) {
						return true
					}
				}
			}
		}
	}
	return false
}

// merge applies a strategic merge patch.
func (c *course) merge(m *mergePatch) {
	was := slices.Clone(c.indexes)
	way, full := c.into(m.node, 0)
	for i := range c.indexes {
		switch {
		case i > len(way):
			c.indexes[i] = was[i]
		case c.single(i) && (was[i] == 0 || i < len(way)):
			c.indexes[i] = 0
		case c.listAt(i):
			c.indexes[i] = -1 // kustomize puts new elements in front
		}
	}
	for _, h := range way {
		if at, all := takenBy(h); at != nil {
			c.takes(start(m.snippet.position(at)))
			full = full && !all
		}
	}
	if full && !c.identifies() {
		c.writes(way[len(way)-1], m.snippet)
	}
}

// takenBy is the node of a patch that takes away what was there; all is set when
// nothing comes in its place.
func takenBy(h hop) (at *yaml.Node, all bool) {
	if h.value.Tag == "!!null" {
		return written(h), true
	}
	if h.value.Kind != yaml.MappingNode {
		return nil, false
	}
	d, _ := field(h.value, directive, 0)
	if d.value == nil || d.value.Value != "delete" && d.value.Value != "replace" {
		return nil, false
	}
	return d.value, d.value.Value == "delete"
}

// takes notes that the field is gone.
func (c *course) takes(at Position) { c.value, c.taken = fieldValue{}, at }

// identifies tells whether the field is one by which a patch says what it is for;
// kustomize keeps the object's own.
func (c *course) identifies() bool {
	return c.is("apiVersion") || c.is("kind") || c.is("metadata", "name") || c.is("metadata", "namespace")
}

// writes takes the value from a patch.
func (c *course) writes(h hop, s *snippet) {
	at, _ := hopPosition(h, func(n *yaml.Node) (Position, bool) { return s.position(n), true })
	c.step(at, StepPatch)
	c.holds(h.value)
}

// listAt tells whether a step goes into a list.
func (c *course) listAt(i int) bool { return i < len(c.hops) && c.hops[i].key == nil }

// single tells whether the list a step goes into ends up with one element.
func (c *course) single(i int) bool {
	return c.listAt(i) && i > 0 && len(c.hops[i-1].value.Content) == 1
}

// operate applies an operation of a JSON6902 patch.
func (c *course) operate(o *operation) {
	if o.op == "move" || o.op == "copy" {
		c.disturb(o.path)
		if o.op == "move" {
			c.disturb(o.from)
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

// covers tells how many of the field's steps a JSON pointer takes; 0 when it does
// not lead to the field. It is not sure of it when it goes through an element of a
// list whose index is not known. An index that it ends with may be any.
func (c *course) covers(tokens []string) (depth int, sure bool) {
	if len(tokens) > len(c.steps) {
		return 0, true
	}
	sure = true
	for i, token := range tokens {
		switch {
		case !c.listAt(i):
			if token != c.steps[i].key {
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

// index is the last token of a pointer to an element of a list; -1 for `-`.
func index(tokens []string) int {
	n, err := strconv.Atoi(tokens[len(tokens)-1])
	if err != nil {
		return -1
	}
	return n
}

// insert adds an element to a list that the field goes through.
func (c *course) insert(o *operation, depth int) {
	now, at := &c.indexes[depth-1], index(o.path)
	switch {
	case sameItem(unalias(o.value.value), c.hops[depth-1].value):
		*now = at
		c.overwrite(o, depth)
	case *now >= 0 && at >= 0 && at <= *now:
		*now++
	}
}

// remove takes an element out of a list that the field goes through.
func (c *course) remove(o *operation, depth int) {
	now, at := &c.indexes[depth-1], index(o.path)
	switch {
	case *now == at:
		c.takes(start(o.snippet.position(o.node)))
		*now = -1
	case at < *now:
		*now--
	}
}

// overwrite puts what an operation has where the field is, or what it is in; nothing
// when it removes.
func (c *course) overwrite(o *operation, depth int) {
	c.takes(start(o.snippet.position(o.node)))
	if o.op == "remove" || o.value.value == nil {
		return
	}
	way, full := c.into(o.value.value, depth)
	if full {
		c.writes(append([]hop{o.value}, way...)[len(way)], o.snippet)
	}
}

// disturb gives up on a field that an operation moves in a way not followed.
func (c *course) disturb(tokens []string) {
	if depth, _ := c.covers(tokens); depth > 0 {
		c.value.known = false
		for i := range c.indexes {
			c.indexes[i] = -1
		}
	}
}
