package rules

import (
	"fmt"
	"path"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/kustomize/padding"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Build is how a root is built.
type Build struct {
	Run func(serve build.ServeFunc) (resmap.ResMap, error)
	// Same reports whether the last result of Run equals the objects of the root.
	Same func(resmap.ResMap) bool
}

// Locate builds a root once more from padded files and derives the places of nodes from their lines. If that
// build differs in any object, only the documents are known.
func Locate(t *tree.Tree, dir string, c *build.Closure, objects []*render.Object, b Build) ([]*origin.Origin, error) {
	l := &locator{tree: t, dir: dir, closure: c, run: b.Run}
	if c.Openapi != nil {
		return l.documentsOnly(objects, WhyIsolated), nil
	}
	l.padder = padding.New(c, t, renaming)
	resources, err := b.Run(l.padder.Serve)
	if err != nil || resources.Size() != len(objects) {
		return l.documentsOnly(objects, whyDifferent), nil
	}
	origins := originsOf(resources)
	if l.addedOrigins() {
		if err := resources.RemoveOriginAnnotations(); err != nil {
			return nil, fmt.Errorf("locate the objects of %s: %w", dir, err)
		}
	}
	exact := b.Same(resources)
	l.resources, l.origins = resources.Resources(), origins
	out := make([]*origin.Origin, len(objects))
	for i := range out {
		out[i] = l.source(i, exact)
	}
	return out, nil
}

func originsOf(resources resmap.ResMap) []*resource.Origin {
	var out []*resource.Origin
	for _, res := range resources.Resources() {
		from, err := res.GetOrigin()
		if err != nil {
			from = nil
		}
		out = append(out, from)
	}
	return out
}

// locator finds the origins of one root's objects.
type locator struct {
	// mu guards the fields that are filled in on first use.
	mu      sync.Mutex
	tree    *tree.Tree
	dir     string // of the root
	closure *build.Closure
	// run builds the root from the files that serve returns.
	run    func(serve build.ServeFunc) (resmap.ResMap, error)
	padder *padding.Padder
	// resources are the objects of the padded build.
	resources []*resource.Resource
	origins   []*resource.Origin
	order     []*build.Kustomization // see outermostFirst
	affected  map[string][]*build.Kustomization
	patches   map[*build.Kustomization]*patchesOf
	rebuilds  map[padding.Elision]resmap.ResMap
	ids       map[int]identity
	chains    chainCache
}

func (l *locator) addedOrigins() bool {
	return len(l.closure.Files) > 0 && !padding.HasOrigins(&l.closure.Files[0].Spec)
}

// documentsOnly returns origins without fields. It finds documents by kind and name in the closure.
func (l *locator) documentsOnly(objects []*render.Object, why string) []*origin.Origin {
	out := make([]*origin.Origin, len(objects))
	for i, o := range objects {
		kind, name := render.KindAndName(o.Content())
		out[i] = origin.Known(origin.Places{Document: l.search(kind, name), Why: why})
	}
	return out
}

// source returns the origin of one object.
func (l *locator) source(i int, exact bool) *origin.Origin {
	res := l.resources[i]
	document := l.document(i)
	if !exact {
		return origin.Known(origin.Places{Document: document, Why: whyDifferent})
	}
	direct := func(path string) (tree.Position, bool) {
		return origin.FindSteps(res.YNode(), origin.ParsePath(path), document, l.hopPosition)
	}
	find := func(path string, part origin.Part) origin.Place {
		l.mu.Lock()
		defer l.mu.Unlock()
		pos, found := direct(path)
		if found {
			return origin.Place{Position: pos, Evidence: origin.Marked}
		}
		evidence := origin.Nearest
		if reparsed(res.YNode()) {
			if pos, evidence = l.findReparsed(i, document, direct, path); evidence == origin.Inferred {
				return origin.Place{Position: pos, Evidence: origin.Inferred}
			}
		}
		if set, ok := l.unmarked(i, document, path, part); ok {
			return origin.Place{Position: set, Evidence: origin.Inferred}
		}
		if taken, ok := l.removed(i, document, path); ok {
			return origin.Place{Position: taken, Evidence: origin.Removed}
		}
		if evidence != origin.Nearest {
			return origin.Place{Position: pos, Evidence: evidence}
		}
		if at, ok := l.nearest(i, document, path); ok {
			pos = at
		}
		return origin.Place{Position: pos, Why: l.why(i, document, path)}
	}
	removals := func(list string) []origin.Removal {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.removals(i, document, list)
	}
	chain := &chainFinder{locator: l, object: i, document: document, find: find}
	return origin.Known(origin.Places{Document: document, Find: find, Removals: removals, History: chain})
}

// document returns the first line of the document that the object comes from: the one in kustomize's source
// file that most of its nodes come from; for a generated object, the entry of the generator.
func (l *locator) document(object int) tree.Position {
	res, from := l.resources[object], l.origins[object]
	kind, name := res.GetKind(), res.GetName()
	if from != nil && from.ConfiguredIn != "" {
		return l.generated(path.Join(l.dir, from.ConfiguredIn), kind, name)
	}
	file := ""
	if from != nil && from.Path != "" {
		file = l.tree.Resolve(path.Join(l.dir, from.Path)).Real
	}
	best := l.mostVoted(res.YNode(), file)
	if best == nil && file != "" {
		pos, sure := searchFile(l.padder.Ranges, file, kind, name)
		if sure || !reparsed(res.YNode()) {
			return pos
		}
		if all := l.before(); all != nil {
			best = l.mostVoted(all.Resources()[object].YNode(), file)
		}
		if best == nil {
			return pos
		}
	}
	if best == nil {
		return l.search(kind, name)
	}
	return best.Top()
}

// mostVoted returns the document that most nodes of an object come from; if file is set, only documents of
// that file count.
func (l *locator) mostVoted(n *yaml.Node, file string) *padding.Range {
	votes := map[*padding.Range]int{}
	l.vote(n, votes)
	var best *padding.Range
	for r, n := range votes {
		if file != "" && r.Snippet.Path != file {
			continue
		}
		if best == nil || n > votes[best] || (n == votes[best] && r.Start < best.Start) {
			best = r
		}
	}
	return best
}

// vote counts the nodes of an object by the document they come from.
func (l *locator) vote(n *yaml.Node, votes map[*padding.Range]int) {
	if n == nil {
		return
	}
	if r := l.padder.Find(n.Line); r != nil {
		votes[r]++
	}
	for _, child := range n.Content {
		l.vote(child, votes)
	}
}

// searchFile finds the document of a file that has the object's kind and the most similar name. It is sure
// when no other document is equally similar.
func searchFile(ranges []padding.Range, file, kind, name string) (pos tree.Position, sure bool) {
	best, score := tree.Position{Path: file, Line: 1}, -1
	for i := range ranges {
		r := &ranges[i]
		if r.Snippet.Path != file {
			continue
		}
		switch n, top := likeness(r, kind, name), r.Top(); {
		case n > score:
			best, score, sure = top, n, true
		case n == score && top != best: // the file may occur in several builds
			sure = false
		}
	}
	return best, sure
}

// likeness scores how likely a document is the source of an object: by its kind, then by the length of its
// name inside the object's.
func likeness(r *padding.Range, kind, name string) int {
	doc := r.Written()
	if origin.ScalarField(doc, "kind") != kind {
		return 0
	}
	written := nameIn(doc)
	switch {
	case written == name:
		return 1 << 20
	case strings.Contains(name, written):
		return 1 + len(written)
	}
	return 1
}

// nameIn returns the name of a document's object, or its generateName.
func nameIn(doc *yaml.Node) string {
	if doc == nil || doc.Kind != yaml.MappingNode {
		return ""
	}
	metadata, _ := origin.ChildOf(doc, "metadata", 0)
	return origin.ScalarField(metadata.Value, "name") + origin.ScalarField(metadata.Value, "generateName")
}

// search returns the most similar document of all resource files of the closure.
func (l *locator) search(kind, name string) tree.Position {
	best, score := tree.Position{Path: l.dir}, 1
	if len(l.closure.Files) > 0 {
		best = tree.Position{Path: l.closure.Files[0].Path, Line: 1}
	}
	documents := padding.Written(l.closure, l.tree)
	for i := range documents {
		if n := likeness(&documents[i], kind, name); n > score {
			best, score = documents[i].Top(), n
		}
	}
	return best
}

// generated finds the generator's entry in a kustomization file.
func (l *locator) generated(file, kind, name string) tree.Position {
	k := l.padder.Kustomization(file)
	if k == nil {
		return tree.Position{Path: file, Line: 1}
	}
	best, length := tree.Position{Path: file, Line: 1}, -1
	for i, g := range generatorsOf(k, kind) {
		if len(g.args.Name) > length && strings.Contains(name, g.args.Name) {
			best, length = k.Position(g.field, i), len(g.args.Name)
		}
	}
	return best
}

// hopPosition returns where a field is written. Kustomize keeps the key when a patch replaces a
// list, but takes the list from the patch.
func (l *locator) hopPosition(h origin.Pair) (tree.Position, bool) {
	if h.Key != nil && h.Value != nil && h.Value.Kind != yaml.ScalarNode {
		if r := l.padder.Find(h.Value.Line); r != nil && r != l.padder.Find(h.Key.Line) {
			if pos, ok := l.place(h.Value); ok {
				return pos, true
			}
		}
	}
	return origin.HopPosition(h, l.place)
}

// place returns where a node of a padded build was written, if the node still has the value that is written
// there.
func (l *locator) place(n *yaml.Node) (tree.Position, bool) {
	if n == nil {
		return tree.Position{}, false
	}
	r := l.padder.Find(n.Line)
	if r == nil {
		return tree.Position{}, false
	}
	if n.Kind != yaml.ScalarNode {
		h, ok := r.Node(n, false)
		if !ok {
			return tree.Position{}, false
		}
		if h.Key != nil {
			return r.Snippet.Position(h.Key), true
		}
		return r.Snippet.Position(h.Value), true
	}
	for _, key := range []bool{false, true} {
		if h, ok := r.Node(n, key); ok && h.Value.Value == n.Value {
			return r.Snippet.Position(h.Value), true
		}
	}
	return tree.Position{}, false
}
