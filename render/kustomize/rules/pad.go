package rules

import (
	"encoding/json"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// firstPadding is where the line ranges begin: lines below are those of text
// that kustomize wrote and parsed itself.
const firstPadding = 10_000

// padder serves a build's files with every YAML document moved to a range of
// lines of its own. The line of a node survives kustomize wherever the node
// itself does, so it shows afterwards which document the node comes from.
type padder struct {
	closure *build.Closure
	tree    *tree.Tree
	root    string          // the root's kustomization file
	data    map[string]bool // files whose bytes end up in objects: not to be touched
	served  map[string][]byte
	next    int
	ranges  []padRange
	elide   elision
}

// padRange is where a document was moved to.
type padRange struct {
	start   int // lines before the document in what was served
	end     int // the last line
	snippet *origin.Snippet
	text    string
	item    *yaml.Node // what was served as text, when it is an item of a list
	parsed  *yaml.Node // the document, when it was needed; without content when it is no YAML
	index   *nodeIndex
}

func newPadder(c *build.Closure, t *tree.Tree) *padder {
	p := &padder{closure: c, tree: t, data: map[string]bool{}, served: map[string][]byte{}, next: firstPadding}
	if len(c.Files) > 0 {
		p.root = c.Files[0].Path
	}
	for _, e := range c.Entries {
		if e.Kind == build.RefFile && e.Target != "" {
			p.data[t.Resolve(e.Target).Real] = true
		}
	}
	return p
}

// serve returns kustomize the moved documents of a file.
func (p *padder) serve(real string, data []byte) []byte {
	if out, ok := p.served[real]; ok {
		return out
	}
	out := data
	if k := p.kustomization(real); k != nil {
		out = p.moveInline(k)
	} else if !p.data[real] && !isJSONPatch(data) {
		out = p.moveFile(real, data)
	}
	p.served[real] = out
	return out
}

func (p *padder) kustomization(real string) *build.Kustomization {
	for _, k := range p.closure.Files {
		if k.Path == real {
			return k
		}
	}
	return nil
}

// isJSONPatch reports whether a text is a list of JSON6902 operations, whose lines mean
// nothing.
func isJSONPatch(data []byte) bool {
	var doc yaml.Node
	if yaml.NewDecoder(strings.NewReader(tree.Normalize(data))).Decode(&doc) != nil || len(doc.Content) == 0 {
		return false
	}
	return doc.Content[0].Kind == yaml.SequenceNode
}

// moveFile moves the documents of a file. The items of lists become documents of their
// own: kustomize reads them anew, which loses their lines.
func (p *padder) moveFile(real string, data []byte) []byte {
	text := tree.Normalize(data)
	var out strings.Builder
	var items []item
	start, line := 0, 0
	move := func(end int) {
		s := origin.NewSnippet(real, text[start:end], line)
		if apart, ok := takenApart(text[start:end], s); ok {
			items = append(items, apart...)
		} else {
			p.move(&out, text[start:end], s)
		}
	}
	for _, at := range tree.Separator.FindAllStringIndex(text, -1) {
		move(at[0])
		out.WriteString(text[at[0]:at[1]])
		line += strings.Count(text[start:at[1]], "\n")
		start = at[1]
	}
	move(len(text))
	p.moveItems(&out, items)
	return []byte(out.String())
}

// move writes a document with newlines before its content. A first line of `---`
// must stay first: after a newline it would end a document.
func (p *padder) move(out *strings.Builder, text string, s *origin.Snippet) {
	head, rest := "", text
	switch {
	case strings.TrimSpace(text) == "" || strings.HasPrefix(text, "%"):
		out.WriteString(text)
		return
	case strings.HasPrefix(text, "---"):
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			out.WriteString(text)
			return
		}
		head, rest = text[:end+1], text[end+1:]
	case strings.HasPrefix(text, "\uFEFF"):
		head, rest = text[:len("\uFEFF")], text[len("\uFEFF"):]
	}
	out.WriteString(head)
	out.WriteString(strings.Repeat("\n", p.next))
	out.WriteString(rest)
	lines := strings.Count(text, "\n") + 1
	p.ranges = append(p.ranges, padRange{start: p.next, end: p.next + lines, snippet: s, text: text})
	p.next += lines + 1
}

// moveInline rewrites a kustomization file with the patches it holds moved. The
// root's also asks for origin annotations.
func (p *padder) moveInline(k *build.Kustomization) []byte {
	var spec types.Kustomization
	if spec.Unmarshal(k.Data) != nil {
		return k.Data
	}
	changed := false
	for i := range spec.PatchesStrategicMerge {
		s := string(spec.PatchesStrategicMerge[i])
		if build.IsInline(s) {
			spec.PatchesStrategicMerge[i] = types.PatchStrategicMerge(p.moveText(k, s, "patchesStrategicMerge", i))
			changed = true
		}
	}
	for i := range spec.Patches {
		if s := spec.Patches[i].Patch; s != "" && !isJSONPatch([]byte(s)) {
			spec.Patches[i].Patch = p.moveText(k, s, "patches", i, "patch")
			changed = true
		}
	}
	changed = p.leaveOut(k, &spec) || changed
	if k.Path == p.root && !hasOrigins(&spec) {
		spec.BuildMetadata = append(spec.BuildMetadata, types.OriginAnnotations)
		changed = true
	}
	if !changed {
		return k.Data
	}
	out, err := json.Marshal(spec)
	if err != nil {
		return k.Data
	}
	return out
}

// leaveOut takes from a kustomization what another build is without.
func (p *padder) leaveOut(k *build.Kustomization, spec *types.Kustomization) bool {
	changed := false
	if p.elide.patches {
		changed = p.withoutJSONPatches(k, spec)
	}
	if p.elide.values && len(spec.Images)+len(spec.Replicas)+len(spec.Transformers) > 0 {
		spec.Images, spec.Replicas, spec.Transformers, changed = nil, nil, nil, true
	}
	if p.elide.replacements && len(spec.Replacements) > 0 {
		spec.Replacements, changed = nil, true
	}
	if p.elide != (elision{}) && len(spec.Resources) == 0 {
		// Kustomize does not take a component without anything in it.
		spec.Images, changed = append(spec.Images, types.Image{Name: "nothing.invalid/nothing", NewTag: "0"}), true
	}
	return changed
}

// withoutJSONPatches removes the JSON6902 patches of a kustomization.
func (p *padder) withoutJSONPatches(k *build.Kustomization, spec *types.Kustomization) bool {
	var kept []types.Patch
	changed := false
	for _, patch := range spec.Patches {
		text := []byte(patch.Patch)
		if patch.Path != "" {
			text = p.patchFile(k, patch.Path)
		}
		if !isJSONPatch(text) {
			kept = append(kept, patch)
		} else if r, ok := renaming(string(text), patch); ok {
			kept, changed = append(kept, r), true
		}
	}
	for _, patch := range spec.PatchesJson6902 {
		text := []byte(patch.Patch)
		if patch.Path != "" {
			text = p.patchFile(k, patch.Path)
		}
		if r, ok := renaming(string(text), patch); ok {
			kept = append(kept, r)
		}
	}
	changed = changed || len(kept) < len(spec.Patches) || len(spec.PatchesJson6902)+len(spec.Transformers) > 0
	spec.Patches, spec.PatchesJson6902, spec.Transformers = kept, nil, nil
	return changed
}

func (p *padder) patchFile(k *build.Kustomization, value string) []byte {
	data, _, err := p.tree.Load(path.Join(k.Dir, value), tree.NewTrace())
	if err != nil {
		return nil
	}
	return data
}

func hasOrigins(spec *types.Kustomization) bool {
	return slices.Contains(spec.BuildMetadata, types.OriginAnnotations)
}

// moveText moves the documents of an inline patch. Kustomize trims the text, so
// a comment keeps the newlines in place.
func (p *padder) moveText(k *build.Kustomization, s string, at ...any) string {
	s = tree.Normalize([]byte(s))
	body := strings.TrimLeft(s, " \t\n")
	body = s[strings.LastIndexByte(s[:len(s)-len(body)], '\n')+1:]
	skipped := strings.Count(s[:len(s)-len(body)], "\n")
	var out strings.Builder
	if !strings.HasPrefix(body, "---") {
		out.WriteString("#")
	}
	start, line := 0, skipped
	for _, sep := range tree.Separator.FindAllStringIndex(body, -1) {
		p.move(&out, body[start:sep[0]], inlineSnippet(k, body[start:sep[0]], line, at))
		out.WriteString(body[sep[0]:sep[1]])
		line += strings.Count(body[start:sep[1]], "\n")
		start = sep[1]
	}
	p.move(&out, body[start:], inlineSnippet(k, body[start:], line, at))
	return out.String()
}

// inlineSnippet maps the lines of a patch inside a kustomization file. Those of
// a literal block are lines of the file; of any other style only the place of
// the whole is known.
func inlineSnippet(k *build.Kustomization, text string, line int, at []any) *origin.Snippet {
	s := origin.NewSnippet(k.Path, text, line)
	node := k.Document()
	for _, step := range at {
		if _, node = origin.Child(node, step); node == nil {
			break
		}
	}
	node = origin.Unalias(node)
	if node == nil || node.Style&yaml.LiteralStyle == 0 {
		pos := k.Position(at...)
		s.Whole = &pos
		return s
	}
	s.Line += node.Line
	file := strings.Split(tree.Normalize(k.Data), "\n")
	s.Column = func(n int) int { return origin.IndentAt(file, s.Line+n) - origin.IndentAt(s.Lines, n) }
	return s
}

// find returns the range a line of what kustomize built lies in.
func (p *padder) find(line int) *padRange {
	i := sort.Search(len(p.ranges), func(i int) bool { return p.ranges[i].end >= line })
	if i == len(p.ranges) || line <= p.ranges[i].start {
		return nil
	}
	return &p.ranges[i]
}

// nodeIndex finds the nodes of a document by where they were written.
type nodeIndex struct {
	nodes map[nodePlace]origin.Pair
	// values are those of mappings by the place of their keys.
	values map[nodePlace]*yaml.Node
}

type nodePlace struct {
	line, column int
	kind         yaml.Kind
	key          bool
}

func (r *padRange) nodes() *nodeIndex {
	if r.index != nil {
		return r.index
	}
	r.index = &nodeIndex{nodes: map[nodePlace]origin.Pair{}, values: map[nodePlace]*yaml.Node{}}
	top := r.served()
	switch {
	case top == nil:
	case r.item != nil:
		r.index.addItem(origin.Pair{Value: top}, origin.Pair{Value: r.item})
	default:
		r.index.add(origin.Pair{Value: top}, map[*yaml.Node]bool{})
	}
	return r.index
}

// written is what the document holds in the file; nil when it is no YAML, or empty.
func (r *padRange) written() *yaml.Node {
	if r.item != nil {
		return r.item
	}
	return r.served()
}

// served is what kustomize read; nil when it is no YAML, or empty.
func (r *padRange) served() *yaml.Node {
	if r.parsed == nil {
		r.parsed = &yaml.Node{}
		var doc yaml.Node
		if yaml.NewDecoder(strings.NewReader(r.text)).Decode(&doc) == nil {
			r.parsed = &doc
		}
	}
	if len(r.parsed.Content) == 0 {
		return nil
	}
	return r.parsed.Content[0]
}

func (x *nodeIndex) add(h origin.Pair, seen map[*yaml.Node]bool) {
	n := h.Value
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	x.nodes[nodePlace{n.Line, n.Column, n.Kind, false}] = h
	if n.Kind != yaml.MappingNode {
		for _, child := range n.Content {
			x.add(origin.Pair{Value: child}, seen)
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := nodePlace{key.Line, key.Column, key.Kind, true}
		x.nodes[at], x.values[at] = origin.Pair{Value: key}, origin.Unalias(n.Content[i+1])
		x.add(origin.Pair{Key: key, Value: n.Content[i+1]}, seen)
	}
}
