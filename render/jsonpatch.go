package render

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
)

// A JSON6902 patch makes kustomize parse the whole object anew, so its nodes
// lose their lines. What the operations wrote is found by their paths; the rest
// in another build without such patches.

// operation is one operation of a JSON6902 patch, with where it was written.
type operation struct {
	op      string
	path    []string // the tokens of the JSON pointer
	value   hop
	node    *yaml.Node
	snippet *snippet
	target  *types.Selector
}

// operations lists the JSON6902 operations of a closure, the last to be applied
// first. (Of an overlay and its base, the overlay's patches are applied last,
// and its file is walked first.)
func (l *locator) operations() []operation {
	if l.ops != nil {
		return *l.ops
	}
	var out []operation
	for _, k := range l.closure.files {
		var own []operation
		for i, p := range k.spec.Patches {
			own = append(own, l.patchOperations(k, p, "patches", i)...)
		}
		for i, p := range k.spec.PatchesJson6902 {
			own = append(own, l.patchOperations(k, p, "patchesJson6902", i)...)
		}
		for i := len(own) - 1; i >= 0; i-- {
			out = append(out, own[i])
		}
	}
	l.ops = &out
	return out
}

func (l *locator) patchOperations(k *kustomization, p types.Patch, field string, i int) []operation {
	text, s := p.Patch, (*snippet)(nil)
	if p.Path != "" {
		for _, e := range l.closure.entries {
			if e.from == k && e.kind == refPatch && e.value == p.Path {
				text = l.renderer.patchText(e)
				s = newSnippet(l.renderer.tree.resolve(e.target).real, text, 0)
			}
		}
	} else {
		s = inlineSnippet(k, text, 0, []any{field, i, "patch"})
	}
	var doc yaml.Node
	if s == nil || yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.SequenceNode {
		return nil
	}
	var out []operation
	for _, node := range doc.Content[0].Content {
		op := operation{node: unalias(node), snippet: s, target: p.Target}
		op.op = scalarField(op.node, "op")
		op.path = pointer(scalarField(op.node, "path"))
		if op.node != nil && op.node.Kind == yaml.MappingNode {
			op.value, _ = field6902(op.node)
		}
		out = append(out, op)
	}
	return out
}

func field6902(node *yaml.Node) (hop, bool) { return field(node, "value", 0) }

func scalarField(node *yaml.Node, name string) string {
	if node == nil || node.Kind != yaml.MappingNode {
		return ""
	}
	h, ok := field(node, name, 0)
	if !ok {
		return ""
	}
	return h.value.Value
}

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

// applies tells whether the operation's target could be an object.
func (o *operation) applies(kind, name string) bool {
	if o.target == nil {
		return false
	}
	return anchored(o.target.Kind, kind) && (anchored(o.target.Name, name) || strings.Contains(name, o.target.Name))
}

func anchored(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	return err == nil && re.MatchString(text)
}

// covers tells whether the operation's path is the field's or leads to it, and
// what of the field's path is left below it.
func (o *operation) covers(steps []fieldStep) (rest []fieldStep, ok bool) {
	if len(o.path) > len(steps) || len(o.path) == 0 {
		return nil, false
	}
	for i, token := range o.path {
		s := steps[i]
		if token != s.key && !(s.indexed && (token == "-" || token == strconv.Itoa(s.index))) {
			return nil, false
		}
	}
	return steps[len(o.path):], true
}

// patched finds the operation that wrote a field, or took it away.
func (l *locator) patched(kind, name string, steps []fieldStep, leaf *yaml.Node) (pos Position, found, ok bool) {
	for _, o := range l.operations() {
		rest, covers := o.covers(steps)
		if !covers || !o.applies(kind, name) {
			continue
		}
		if o.op == "remove" {
			if leaf == nil {
				return start(o.snippet.position(o.node)), false, true
			}
			continue
		}
		if o.value.value == nil {
			continue
		}
		hops, complete := descendPath(o.value.value, rest)
		last := o.value
		if len(hops) > 0 {
			last = hops[len(hops)-1]
		}
		switch {
		case complete && leaf != nil && sameNode(last.value, leaf):
			pos, _ := hopPosition(last, func(n *yaml.Node) (Position, bool) { return o.snippet.position(n), true })
			return pos, true, true
		case !complete && leaf == nil:
			return o.snippet.position(o.value.key), false, true
		}
	}
	return Position{}, false, false
}

func start(p Position) Position { return Position{Path: p.Path, Line: p.Line, Column: p.Column} }

// sameNode compares what two nodes say: scalars by value, others by kind.
func sameNode(a, b *yaml.Node) bool {
	if a == nil || b == nil || a.Kind != b.Kind {
		return false
	}
	return a.Kind != yaml.ScalarNode || a.Value == b.Value
}

// before is the padded build without JSON6902 patches, by the index of the
// object; nil when leaving them out changes which objects there are.
func (l *locator) before() resmap.ResMap {
	if l.elided != nil {
		return *l.elided
	}
	l.elided = new(resmap.ResMap)
	p := newPadder(l.closure, l.renderer.tree)
	p.elide = true
	p.next = l.padder.next + 1
	fsys := &kustomizeFS{tree: l.renderer.tree, trace: newTrace(), serve: p.serve}
	resources, err := l.renderer.run(fsys, l.root.Path)
	if err != nil || resources.Size() != len(l.resources) {
		return nil
	}
	for i, res := range resources.Resources() {
		if res.GetKind() != l.resources[i].GetKind() || res.GetName() != l.resources[i].GetName() {
			return nil
		}
	}
	l.padder.ranges = append(l.padder.ranges, p.ranges...)
	*l.elided = resources
	return resources
}

// reparsed tells whether an object went through a JSON6902 patch.
func reparsed(n *yaml.Node) bool { return n.Line > 0 && n.Line < firstPadding }

// findReparsed finds a field of such an object: what is still located, then what
// an operation wrote, then what merely passed through.
func (l *locator) findReparsed(i int, direct func(string) (Position, bool), path string) (Position, bool) {
	if pos, found := direct(path); found {
		return pos, true
	}
	res := l.resources[i]
	steps := parsePath(path)
	hops, complete := descendPath(res.YNode(), steps)
	steps = canonical(hops, steps)
	var leaf *yaml.Node
	if complete && len(hops) > 0 {
		leaf = hops[len(hops)-1].value
	}
	if pos, found, ok := l.patched(res.GetKind(), res.GetName(), steps, leaf); ok {
		return pos, found
	}
	all := l.before()
	if all == nil {
		return direct(path)
	}
	old := all.Resources()[i].YNode()
	oldHops, oldComplete := descendPath(old, steps)
	agree := leaf == nil || (oldComplete && len(oldHops) > 0 && sameNode(oldHops[len(oldHops)-1].value, leaf))
	document, _ := direct("")
	pos, found := finder(old, document, l.place)(path)
	return pos, found && agree && leaf != nil
}
