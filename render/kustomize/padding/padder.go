package padding

import (
	"encoding/json"
	"path"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// First is the first line of the ranges: lower lines belong to text that kustomize wrote and parsed itself.
const First = 10_000

// Padder serves a build's files with every YAML document moved to a range of lines of its own, which shows
// afterwards which document a node comes from.
type Padder struct {
	closure *build.Closure
	tree    *tree.Tree
	root    string          // the root's kustomization file
	data    map[string]bool // files whose bytes become values of objects: not changed
	served  map[string][]byte
	next    int
	// Ranges are the ranges of the moved documents, in order.
	Ranges []Range
	elide  Elision
	// renaming replaces a JSON6902 patch that is left out.
	renaming Renaming
}

// Renaming returns a patch that only renames objects, as the JSON6902 operations in a text do. It returns
// false if they rename none.
type Renaming func(text string, patch types.Patch) (types.Patch, bool)

// Elision selects what a build leaves out.
type Elision struct {
	// Patches are the JSON6902 patches, Values the `images` and `replicas`, which only replace values; either
	// also leaves out `transformers`.
	Patches, Values bool
	// Replacements may need a value that a patch sets.
	Replacements bool
}

// New returns a Padder for a build. renaming returns replacements for JSON6902 patches that a build leaves
// out.
func New(c *build.Closure, t *tree.Tree, renaming Renaming) *Padder {
	p := &Padder{closure: c, tree: t, data: map[string]bool{}, served: map[string][]byte{}, next: First, renaming: renaming}
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

// Without returns a Padder for a build without the elided parts. Its ranges follow those of p.
func (p *Padder) Without(e Elision) *Padder {
	other := New(p.closure, p.tree, p.renaming)
	other.elide, other.next = e, p.next+1
	return other
}

// Join adds the ranges of a Padder that Without returned.
func (p *Padder) Join(other *Padder) {
	p.Ranges = append(p.Ranges, other.Ranges...)
	p.next = other.next
}

// Written returns the documents of all resource files of a build, unchanged.
func Written(c *build.Closure, t *tree.Tree) []Range {
	p := &Padder{closure: c, served: map[string][]byte{}, next: 1}
	for _, e := range c.Entries {
		to := t.Resolve(e.Target)
		if e.Kind != build.RefResource || to.Err != nil || to.IsDir || p.served[to.Real] != nil {
			continue
		}
		if data, _, err := t.Load(e.Target, tree.NewTrace()); err == nil {
			p.served[to.Real] = p.moveFile(to.Real, data)
		}
	}
	return p.Ranges
}

// Serve returns a file with its documents moved.
func (p *Padder) Serve(real string, data []byte) []byte {
	if out, ok := p.served[real]; ok {
		return out
	}
	out := data
	if k := p.Kustomization(real); k != nil {
		out = p.moveInline(k)
	} else if !p.data[real] && !isJSONPatch(data) {
		out = p.moveFile(real, data)
	}
	p.served[real] = out
	return out
}

// Kustomization returns the kustomization in a file; nil if the file is no kustomization of the build.
func (p *Padder) Kustomization(real string) *build.Kustomization {
	for _, k := range p.closure.Files {
		if k.Path == real {
			return k
		}
	}
	return nil
}

// isJSONPatch reports whether a text is a list of JSON6902 operations, whose lines kustomize drops.
func isJSONPatch(data []byte) bool {
	var doc yaml.Node
	if yaml.NewDecoder(strings.NewReader(tree.Normalize(data))).Decode(&doc) != nil || len(doc.Content) == 0 {
		return false
	}
	return doc.Content[0].Kind == yaml.SequenceNode
}

// moveFile moves the documents of a file. The items of lists become documents of their own, because kustomize
// parses them again, which loses their lines.
func (p *Padder) moveFile(real string, data []byte) []byte {
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

// move writes a document with newlines before its content. A first line of `---` must stay first: after
// newlines it would start another document.
func (p *Padder) move(out *strings.Builder, text string, s *origin.Snippet) {
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
	lines := tree.CountParserLines(text)
	p.Ranges = append(p.Ranges, Range{Start: p.next, end: p.next + lines, Snippet: s, text: text})
	p.next += lines + 1
}

// moveInline returns a kustomization file with its inline patches moved. The root's file also sets
// originAnnotations.
func (p *Padder) moveInline(k *build.Kustomization) []byte {
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
	if k.Path == p.root && !HasOrigins(&spec) {
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

// leaveOut removes the elided parts from a kustomization.
func (p *Padder) leaveOut(k *build.Kustomization, spec *types.Kustomization) bool {
	changed := false
	if p.elide.Patches {
		changed = p.withoutJSONPatches(k, spec)
	}
	if p.elide.Values && len(spec.Images)+len(spec.Replicas)+len(spec.Transformers) > 0 {
		spec.Images, spec.Replicas, spec.Transformers, changed = nil, nil, nil, true
	}
	if p.elide.Replacements && len(spec.Replacements) > 0 {
		spec.Replacements, changed = nil, true
	}
	if p.elide != (Elision{}) && len(spec.Resources) == 0 {
		// Kustomize rejects an empty component.
		spec.Images, changed = append(spec.Images, types.Image{Name: "nothing.invalid/nothing", NewTag: "0"}), true
	}
	return changed
}

// withoutJSONPatches removes the JSON6902 patches of a kustomization.
func (p *Padder) withoutJSONPatches(k *build.Kustomization, spec *types.Kustomization) bool {
	var kept []types.Patch
	changed := false
	for _, patch := range spec.Patches {
		text := []byte(patch.Patch)
		if patch.Path != "" {
			text = p.patchFile(k, patch.Path)
		}
		if !isJSONPatch(text) {
			kept = append(kept, patch)
		} else if r, ok := p.renaming(string(text), patch); ok {
			kept, changed = append(kept, r), true
		}
	}
	for _, patch := range spec.PatchesJson6902 {
		text := []byte(patch.Patch)
		if patch.Path != "" {
			text = p.patchFile(k, patch.Path)
		}
		if r, ok := p.renaming(string(text), patch); ok {
			kept = append(kept, r)
		}
	}
	changed = changed || len(kept) < len(spec.Patches) || len(spec.PatchesJson6902)+len(spec.Transformers) > 0
	spec.Patches, spec.PatchesJson6902, spec.Transformers = kept, nil, nil
	return changed
}

func (p *Padder) patchFile(k *build.Kustomization, value string) []byte {
	data, _, err := p.tree.Load(path.Join(k.Dir, value), tree.NewTrace())
	if err != nil {
		return nil
	}
	return data
}

// HasOrigins reports whether a kustomization sets originAnnotations itself.
func HasOrigins(spec *types.Kustomization) bool {
	return slices.Contains(spec.BuildMetadata, types.OriginAnnotations)
}

// moveText moves the documents of an inline patch. Kustomize trims the text, so a leading comment protects the
// newlines.
func (p *Padder) moveText(k *build.Kustomization, s string, at ...any) string {
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
		p.move(&out, body[start:sep[0]], InlineSnippet(k, body[start:sep[0]], line, at))
		out.WriteString(body[sep[0]:sep[1]])
		line += strings.Count(body[start:sep[1]], "\n")
		start = sep[1]
	}
	p.move(&out, body[start:], InlineSnippet(k, body[start:], line, at))
	return out.String()
}

// InlineSnippet maps the lines of a patch inside a kustomization file. For a text that is neither a block nor quoted,
// only the place of the whole patch is known.
func InlineSnippet(k *build.Kustomization, text string, line int, at []any) *origin.Snippet {
	s := origin.NewSnippet(k.Path, text, line)
	node := k.Document()
	for _, step := range at {
		if _, node = origin.Child(node, step); node == nil {
			break
		}
	}
	if s.Spelling = origin.SpellingOf(origin.Unalias(node), strings.Split(tree.Normalize(k.Data), "\n")); s.Spelling == nil {
		pos := k.Position(at...)
		s.Whole = &pos
	}
	return s
}

// Find returns the range that contains a line of an object that kustomize built.
func (p *Padder) Find(line int) *Range {
	i := sort.Search(len(p.Ranges), func(i int) bool { return p.Ranges[i].end >= line })
	if i == len(p.Ranges) || line <= p.Ranges[i].Start {
		return nil
	}
	return &p.Ranges[i]
}
