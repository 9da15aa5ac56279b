package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/preadmit/preadmit/render/kustomize/padding"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// A JSON6902 patch makes kustomize parse the whole object again, so its nodes lose their lines. Fields that
// operations wrote are found by the operations' paths, all others in another build without such patches.

// operation is one operation of a JSON6902 patch, with where it was written.
type operation struct {
	op      string
	path    []string // the tokens of the JSON pointer
	value   origin.Pair
	node    *yaml.Node
	snippet *origin.Snippet
	target  *types.Selector
	from    []string // of move and copy
	at      []any    // the entry of the kustomization
}

// operationsIn returns the operations of a JSON6902 patch; nil for any other patch.
func operationsIn(text string, s *origin.Snippet, target *types.Selector) []operation {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.SequenceNode {
		return nil
	}
	var out []operation
	for _, node := range doc.Content[0].Content {
		op := operation{node: origin.Unalias(node), snippet: s, target: target}
		op.op = origin.ScalarField(op.node, "op")
		op.path = pointer(origin.ScalarField(op.node, "path"))
		op.from = pointer(origin.ScalarField(op.node, "from"))
		if op.node != nil && op.node.Kind == yaml.MappingNode {
			op.value, _ = field6902(op.node)
		}
		out = append(out, op)
	}
	return out
}

func field6902(node *yaml.Node) (origin.Pair, bool) { return origin.ChildOf(node, "value", 0) }

// pointer splits a JSON pointer (RFC 6901).
func pointer(path string) []string {
	if path == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, t := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens
}

// selects reports whether a patch's target may select an object.
func selects(target *types.Selector, id identity) bool {
	if target == nil {
		return false
	}
	for _, s := range []struct {
		selector string
		matches  func(string) (bool, error)
	}{{target.LabelSelector, id.resource.MatchesLabelSelector}, {target.AnnotationSelector, id.resource.MatchesAnnotationSelector}} {
		if s.selector == "" {
			continue
		}
		if ok, err := s.matches(s.selector); err != nil || !ok {
			return false
		}
	}
	return anchored(target.Kind, id.kind) &&
		slices.ContainsFunc(id.names, func(name string) bool { return anchored(target.Name, name) })
}

func anchored(pattern, text string) bool {
	switch {
	case pattern == "":
		return true
	case regexp.QuoteMeta(pattern) == pattern:
		return pattern == text
	}
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	return err == nil && re.MatchString(text)
}

// prefixOf reports whether a pointer leads to a field or to a parent of it, and returns the rest of the
// field's path below the pointer.
func prefixOf(tokens []string, steps []origin.PathStep) (rest []origin.PathStep, ok bool) {
	if len(tokens) > len(steps) || len(tokens) == 0 {
		return nil, false
	}
	for i, token := range tokens {
		s := steps[i]
		if token != s.Key && !(s.Indexed && (token == "-" || token == strconv.Itoa(s.Index))) {
			return nil, false
		}
	}
	return steps[len(tokens):], true
}

// element returns the index at the end of a pointer to an element of a list, if the field's path goes through
// that list.
func element(tokens []string, steps []origin.PathStep) (index int, ok bool) {
	last := len(tokens) - 1
	if last < 0 || last >= len(steps) || !steps[last].Indexed {
		return 0, false
	}
	if _, ok := prefixOf(tokens[:last], steps); !ok && last > 0 {
		return 0, false
	}
	index, err := strconv.Atoi(tokens[last])
	return index, err == nil
}

// shifted returns a copy of steps in which the index of one element is changed.
func shifted(steps []origin.PathStep, at, by int) []origin.PathStep {
	out := append([]origin.PathStep(nil), steps...)
	out[at].Index += by
	out[at].Key = strconv.Itoa(out[at].Index)
	return out
}

// fieldHistory follows a field of an object back through the JSON6902 operations.
type fieldHistory struct {
	steps []origin.PathStep
	// nodes are the existing nodes of the object along the path.
	nodes []origin.Pair
	leaf  *yaml.Node // nil when the field is absent
	total int
	taken bool // an operation removed the field
	// grown is how many more elements a list on the path had before the operations that were undone, by the
	// list's depth.
	grown map[int]int
	moved bool // an operation moved or copied the field here
	// reordered is set when lists on the path may have had another order. Then guesses are the places of
	// values that operations wrote into some element of the list.
	reordered bool
	guesses   []tree.Position
}

// back undoes an operation. done is set when the operation wrote or removed the field.
func (h *fieldHistory) back(o *operation) (pos tree.Position, found, done bool) {
	at := h.pointer(o)
	rest, covers := prefixOf(at, h.steps)
	index, inList := element(at, h.steps)
	last := len(at) - 1
	defer h.regrow(o.op, last, inList)
	switch o.op {
	case "remove":
		if inList && index <= h.steps[last].Index {
			h.steps = shifted(h.steps, last, 1)
		} else if covers && !inList && h.leaf == nil {
			h.taken = true
			return origin.Start(o.snippet.Position(o.node)), false, true
		}
	case "move", "copy":
		if covers {
			h.steps, h.moved = append(stepsOf(o.from), rest...), true
		} else if _, ok := prefixOf(o.from, h.steps); ok && o.op == "move" && h.leaf == nil {
			h.taken = true
			return origin.Start(o.snippet.Position(o.node)), false, true
		}
	case "add", "replace":
		if covers && o.value.Value != nil && h.is(o, len(rest)) {
			if pos, found, done := h.in(o, rest); done {
				return pos, found, true
			}
		}
		if o.op == "add" && inList && index < h.steps[last].Index {
			h.steps = shifted(h.steps, last, -1)
		}
	}
	return tree.Position{}, false, false
}

// pointer returns the path of an operation. It replaces a `-` at the end, which appends to a list, with the
// index that the new element got.
func (h *fieldHistory) pointer(o *operation) []string {
	last := len(o.path) - 1
	if last < 1 || o.path[last] != "-" || last >= len(h.steps) || !h.steps[last].Indexed {
		return o.path
	}
	if _, leads := prefixOf(o.path[:last], h.steps); !leads || last > len(h.nodes) {
		return o.path
	}
	length := len(origin.Unalias(h.nodes[last-1].Value).Content) + h.grown[last]
	return append(slices.Clone(o.path[:last]), strconv.Itoa(length-1))
}

// regrow records how an undone operation changed the length of a list.
func (h *fieldHistory) regrow(op string, depth int, inList bool) {
	if !inList {
		return
	}
	if h.grown == nil {
		h.grown = map[int]int{}
	}
	switch op {
	case "add", "copy":
		h.grown[depth]--
	case "remove":
		h.grown[depth]++
	}
}

// is reports whether the node that an operation wrote can be the present one. For elements of a list the names
// must be equal, because an index is not enough.
func (h *fieldHistory) is(o *operation, rest int) bool {
	at := h.total - rest - 1
	name := origin.ScalarField(o.value.Value, "name")
	if name == "" || at < 0 || at >= len(h.nodes) {
		return true
	}
	return !h.inList(at) || origin.ScalarField(h.nodes[at].Value, "name") == name
}

func (h *fieldHistory) inList(at int) bool { return h.nodes[at].Key == nil }

// in returns the place of the field in the value that an operation wrote.
func (h *fieldHistory) in(o *operation, rest []origin.PathStep) (pos tree.Position, found, done bool) {
	hops, complete := origin.Descend(o.value.Value, rest)
	last := o.value
	if len(hops) > 0 {
		last = hops[len(hops)-1]
	}
	switch {
	case complete && h.leaf != nil && sameNode(last.Value, h.leaf):
		pos, _ := origin.HopPosition(last, func(n *yaml.Node) (tree.Position, bool) { return o.snippet.Position(n), true })
		return pos, true, true
	case !complete && h.leaf == nil:
		return o.snippet.Position(o.value.Key), false, true
	}
	return tree.Position{}, false, false
}

func stepsOf(tokens []string) []origin.PathStep {
	var out []origin.PathStep
	for _, t := range tokens {
		out = append(out, origin.BracketStep(t))
	}
	return out
}

// sameNode reports whether a node is equal to what was written: scalars by value, others by kind.
func sameNode(written, now *yaml.Node) bool {
	if written == nil || now == nil || written.Kind != now.Kind {
		return false
	}
	return written.Kind != yaml.ScalarNode || written.Value == now.Value || sameNumber(written, now) || refolded(written, now) ||
		written.Style&yaml.LiteralStyle != 0 && strings.TrimRight(written.Value, "\n") == now.Value // the patch text was trimmed
}

// sameNumber compares numbers, which kustomize writes in another form after JSON6902 patches: an octal 0400
// becomes 256.
func sameNumber(a, b *yaml.Node) bool {
	var x, y any
	if a.ShortTag() == "!!str" || b.ShortTag() == "!!str" || a.Decode(&x) != nil || b.Decode(&y) != nil {
		return false
	}
	return x == y
}

// refolded reports whether two texts differ in white space only: folded text changes when kustomize writes it
// for JSON6902 patches.
func refolded(written, now *yaml.Node) bool {
	return written.Style&yaml.FoldedStyle != 0 && slices.Equal(strings.Fields(written.Value), strings.Fields(now.Value))
}

// reparsed reports whether an object went through a JSON6902 patch.
func reparsed(n *yaml.Node) bool { return n.Line > 0 && n.Line < padding.First }

// findReparsed finds a field without a line in an object that went through a JSON6902 patch: first in the
// operations, then in the build without such patches.
func (l *locator) findReparsed(i int, document tree.Position, direct func(string) (tree.Position, bool), path string) (tree.Position, origin.Evidence) {
	steps := origin.ParsePath(path)
	hops, complete := origin.Descend(l.resources[i].YNode(), steps)
	h := newHistory(hops, origin.Canonical(hops, steps), complete)
	pos, found, done := l.operated(&h, l.identity(i, document))
	if h.taken {
		return pos, origin.Removed
	}
	if !done {
		pos, found = l.untouched(i, document, direct, path, h)
	}
	if found {
		return pos, origin.Inferred
	}
	return pos, origin.Nearest
}

func newHistory(hops []origin.Pair, steps []origin.PathStep, complete bool) fieldHistory {
	h := fieldHistory{steps: steps, nodes: hops, total: len(steps)}
	if complete && len(hops) > 0 {
		h.leaf = hops[len(hops)-1].Value
	}
	return h
}

// throughPatches finds a leaf of an object that went through a JSON6902 patch.
func (l *locator) throughPatches(i int, document tree.Position, hops []origin.Pair, steps []origin.PathStep) (tree.Position, bool) {
	if !reparsed(l.resources[i].YNode()) {
		return tree.Position{}, false
	}
	h := newHistory(hops, steps, true)
	if pos, found, done := l.operated(&h, l.identity(i, document)); done {
		return pos, found
	}
	all := l.before()
	if all == nil {
		return tree.Position{}, false
	}
	return l.passed(i, all.Resources()[i].YNode(), document, h)
}

// untouched finds a field that no operation wrote.
func (l *locator) untouched(i int, document tree.Position, direct func(string) (tree.Position, bool), path string, h fieldHistory) (tree.Position, bool) {
	if len(h.guesses) > 0 {
		if pos, ok := l.followed(i, document, path); ok {
			return pos, true
		}
	}
	all := l.before()
	if all == nil {
		return direct(path)
	}
	return l.passed(i, all.Resources()[i].YNode(), document, h)
}

// operated follows a field back to the operation that wrote or removed it.
func (l *locator) operated(h *fieldHistory, id identity) (pos tree.Position, found, done bool) {
	reordered := l.reorderings(id, h.steps, h.nodes)
	h.reordered = len(reordered) > 0
	for i, k := range id.kustomizations {
		for _, o := range slices.Backward(l.patchesIn(k).operations) {
			if !selects(o.target, id) {
				continue
			}
			if since(reordered, i, o.at) && o.byIndex(h.steps) {
				if pos, ok := h.guess(&o); ok {
					h.guesses = append(h.guesses, pos)
				}
				continue
			}
			if pos, found, done := h.back(&o); done {
				return pos, found, true
			}
		}
	}
	return tree.Position{}, false, false
}

// passed finds a field in the object as it was before JSON6902 patches.
func (l *locator) passed(i int, old *yaml.Node, document tree.Position, h fieldHistory) (tree.Position, bool) {
	if h.reordered {
		h.steps = h.aligned(old)
	}
	hops, complete := origin.Descend(old, h.steps)
	agree := complete && len(hops) > 0 && sameNode(hops[len(hops)-1].Value, h.leaf)
	pos, found := origin.FindSteps(old, h.steps, document, l.hopPosition)
	switch {
	case len(h.guesses) == 1 && !agree:
		return h.guesses[0], true
	case len(h.guesses) > 0: // which of them is in effect is unknown
		return pos, false
	case agree && !found && h.moved: // copied annotations have no line
		return l.copied(i, document, hops, h.steps, func(n *yaml.Node) bool { return sameNode(n, h.leaf) })
	}
	return pos, found && agree
}
