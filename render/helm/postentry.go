package helm

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/tree"
)

// postEntry is an entry of postRenderers that may decide a field: a part of an image, or a scalar of a patch.
type postEntry struct {
	// field is the field of the HelmRelease, patch its text if it is a patch, and in the position in that text.
	field, patch string
	in           tree.Position
	// around are the positions in that text of the keys and items that contain the value, the outermost first.
	around []tree.Position
	// key is the key that it sets and text the value, empty if it removes the key.
	key, text string
	removes   bool
	// number is the index of the post-renderer; change returns that post-renderer with the entry changed.
	number int
	change func(p release.PostRenderer) (release.PostRenderer, bool)
}

// maxEntries limits the number of entries.
const maxEntries = 2_000

// entriesOf returns the entries of the post-renderers of a release.
func entriesOf(h *release.HelmRelease) (all []*postEntry) {
	number := 0
	for i, p := range h.Spec.PostRenderers {
		if p.Kustomize == nil {
			continue
		}
		at := fmt.Sprintf("spec.postRenderers[%d].kustomize", i)
		for j := range p.Kustomize.Images {
			all = append(all, imageEntries(*p.Kustomize, j, fmt.Sprintf("%s.images[%d]", at, j))...)
		}
		for j := range p.Kustomize.Patches {
			all = append(all, patchEntries(p.Kustomize.Patches[j].Patch, j, fmt.Sprintf("%s.patches[%d].patch", at, j))...)
		}
		for _, e := range all {
			if strings.HasPrefix(e.field, at+".") {
				e.number = number
			}
		}
		number++
	}
	return all[:min(len(all), maxEntries)]
}

// imageEntries returns the entries of an image.
func imageEntries(p release.PostRenderer, j int, at string) (all []*postEntry) {
	with := func(field, text string, set func(p *release.PostRenderer)) {
		if text == "" {
			return
		}
		all = append(all, &postEntry{field: at + "." + field, key: "image", text: text, change: func(p release.PostRenderer) (release.PostRenderer, bool) {
			p.Images = slices.Clone(p.Images)
			set(&p)
			return p, true
		}})
	}
	image := p.Images[j]
	with("newTag", image.NewTag, func(p *release.PostRenderer) { p.Images[j].NewTag += "x" })
	with("digest", image.Digest, func(p *release.PostRenderer) { p.Images[j].Digest += "0" })
	with("newName", image.NewName, func(p *release.PostRenderer) { p.Images[j].NewName += "x" })
	return all
}

// patchEntries returns the entries of a patch, one for each scalar.
func patchEntries(text string, j int, at string) []*postEntry {
	s := &patchScalars{}
	for number, document := range documentsOf(text) {
		s.document = number
		s.walk(document, "", nil, []tree.Position{positionOf(document)})
	}
	for _, e := range s.found {
		e.field, e.patch = at, text
		e.change = changeOf(text, j, e.path, e.removes)
	}
	all := make([]*postEntry, len(s.found))
	for i, e := range s.found {
		all[i] = &e.postEntry
	}
	return all
}

// documentsOf returns the documents of a patch up to the first invalid one.
func documentsOf(text string) (all []*yaml.Node) {
	decoder, lines := yaml.NewDecoder(strings.NewReader(text)), tree.NewParserLines(text)
	for {
		var n yaml.Node
		if err := decoder.Decode(&n); err != nil {
			return all
		}
		lines.Move(&n)
		if len(n.Content) > 0 {
			all = append(all, n.Content[0])
		}
	}
}

// changeOf returns a function that changes a scalar in a patch of a post-renderer. Its path consists of
// indexes, beginning with that of the document. A scalar that removes something is deleted, with its key or
// operation.
func changeOf(text string, j int, path []int, removes bool) func(p release.PostRenderer) (release.PostRenderer, bool) {
	return func(p release.PostRenderer) (release.PostRenderer, bool) {
		all := documentsOf(text)
		holder := &yaml.Node{Kind: yaml.SequenceNode, Content: all}
		for _, step := range path[:len(path)-1] {
			holder = holder.Content[step]
		}
		last := path[len(path)-1]
		switch {
		case !removes:
			other(holder.Content[last])
		case holder.Kind == yaml.MappingNode:
			holder.Content = slices.Delete(holder.Content, last-1, last+1)
		default:
			holder.Content = slices.Delete(holder.Content, last, last+1)
		}
		var out bytes.Buffer
		encoder := yaml.NewEncoder(&out)
		for _, document := range all {
			if encoder.Encode(document) != nil {
				return p, false
			}
		}
		p.Patches = slices.Clone(p.Patches)
		p.Patches[j].Patch = out.String()
		return p, encoder.Close() == nil
	}
}

// other changes a scalar to another one of the same form.
func other(n *yaml.Node) {
	number, err := strconv.Atoi(n.Value)
	switch digit := strings.LastIndexAny(n.Value, "0123456789"); {
	case n.Tag == "!!bool":
		n.Value = strconv.FormatBool(n.Value != "true")
	case err == nil:
		n.Value = strconv.Itoa(number + 1)
	case digit >= 0:
		n.Value = n.Value[:digit] + string('0'+(n.Value[digit]-'0'+1)%10) + n.Value[digit+1:]
	default:
		n.Value += "x"
	}
}

// foundScalar is an entry and the path of its node.
type foundScalar struct {
	postEntry
	path []int
}

// patchScalars finds the scalars of a patch.
type patchScalars struct {
	document int
	found    []*foundScalar
}

func (s *patchScalars) add(at *yaml.Node, key, text string, removes bool, path []int, around []tree.Position) {
	if len(s.found) < maxEntries {
		s.found = append(s.found, &foundScalar{
			postEntry{in: positionOf(at), around: around, key: key, text: text, removes: removes}, append([]int{s.document}, path...),
		})
	}
}

func positionOf(n *yaml.Node) tree.Position { return tree.Position{Line: n.Line, Column: n.Column} }

// walk adds the scalars below a node; key is the node's key. The last of at is the position of the node, the
// others those of its parents.
func (s *patchScalars) walk(n *yaml.Node, key string, path []int, at []tree.Position) {
	with := func(i int) []int { return append(path[:len(path):len(path)], i) }
	within := func(said *yaml.Node) []tree.Position { return append(at[:len(at):len(at)], positionOf(said)) }
	switch n.Kind {
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if len(path) == 0 {
				s.operation(item, with(i))
			} else {
				s.walk(item, key, with(i), within(item))
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			inner, value := n.Content[i].Value, n.Content[i+1]
			if value.Tag == "!!null" || inner == "$patch" {
				s.add(value, cmp.Or(map[string]string{"$patch": key}[inner], inner), "", true, with(i+1), at)
				continue
			}
			s.walk(value, inner, with(i+1), within(n.Content[i]))
		}
	case yaml.ScalarNode:
		s.add(n, key, n.Value, false, path, at[:len(at)-1])
	}
}

// operation adds the scalars of the value of a JSON patch operation, or the operation itself if it has no
// value.
func (s *patchScalars) operation(n *yaml.Node, path []int) {
	if n.Kind != yaml.MappingNode {
		return
	}
	var target, value *yaml.Node
	said, at := n, 0
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch n.Content[i].Value {
		case "path":
			target = n.Content[i+1]
		case "value":
			said, value, at = n.Content[i], n.Content[i+1], i+1
		}
	}
	if target == nil {
		return
	}
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(target.Value[strings.LastIndexByte(target.Value, '/')+1:])
	if value == nil {
		s.add(n, key, "", true, path, nil)
		return
	}
	s.walk(value, key, append(path[:len(path):len(path)], at), []tree.Position{positionOf(said)})
}
