package rules

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// chainCache keeps data that the chains of a root's objects share.
type chainCache struct {
	// uses are the entries that lead to a file or directory, by its path.
	uses map[string][]build.Entry
	// builtins are the plugin configurations that a kustomization lists.
	builtins map[*build.Kustomization][]*build.Kustomization
	// routes are the routes from a file to the root, by the file's path.
	routes map[string][]*route
	// documents are the documents of objects, by position.
	documents map[tree.Position]*ownDocument
}

// ownDocument is the document that an object was read from.
type ownDocument struct {
	node    *yaml.Node
	snippet *origin.Snippet
}

// route is the sequence of kustomizations from a document to the root.
type route struct {
	// entry is the entry that lists the document.
	entry  tree.Position
	stages []stage
}

// stage is a kustomization on a route; stages are in kustomize's order of application. A kustomization has
// two: one for its generators, then one for its changes.
type stage struct {
	k *build.Kustomization
	// builtins are the builtin transformers and generators that it configures in documents.
	builtins  []*build.Kustomization
	entry     tree.Position
	component bool
	generates bool
}

// layers returns a kustomization's own fields and its builtins, in order.
func (s stage) layers() []*build.Kustomization {
	return append([]*build.Kustomization{s.k}, s.builtins...)
}

// maxRoutes limits the routes per file: bases that include each other multiply.
const maxRoutes = 64

// routeOf returns the route of an object; nil when several are possible.
func (l *locator) routeOf(object int, document tree.Position) *route {
	if l.chains.routes == nil {
		l.chains.routes = map[string][]*route{}
	}
	file := document.Path
	if l.isGenerated(object) {
		file = l.creator(object, file)
	}
	all, ok := l.chains.routes[file]
	if !ok {
		all = l.routesFrom(file)
		l.chains.routes[file] = all
	}
	if len(all) == 1 {
		return all[0]
	}
	var fit []*route
	for _, r := range all {
		if l.fits(object, document, r) {
			fit = append(fit, r)
		}
	}
	if len(fit) != 1 {
		return nil
	}
	return fit[0]
}

// creator returns the file of the generator that first made an object. Kustomize loses it when another
// generator replaces the object.
func (l *locator) creator(object int, file string) string {
	names := l.identity(object, tree.Position{Path: file}).names
	creates := func(k *build.Kustomization) bool {
		return slices.ContainsFunc(generatorsOf(k, l.resources[object].GetKind()), func(g generator) bool {
			return slices.Contains(names, g.args.Name) && (g.args.Behavior == "" || g.args.Behavior == "create")
		})
	}
	if k := l.padder.Kustomization(file); k == nil || creates(k) {
		return file
	}
	var found []string
	for _, k := range l.closure.Files {
		if creates(k) {
			found = append(found, k.Path)
		}
	}
	if len(found) != 1 {
		return file
	}
	return found[0]
}

// fits reports whether the object would have its name and namespace after this route.
func (l *locator) fits(object int, document tree.Position, r *route) bool {
	name, namespace := l.written(object, document)
	for _, s := range r.stages {
		if s.generates {
			continue
		}
		for _, k := range s.layers() {
			name = renamed(k, l.resources[object].GetKind(), name)
			if k.Spec.Namespace != "" {
				namespace = k.Spec.Namespace
			}
		}
	}
	res := l.resources[object]
	return name == l.unhashed(object) && (namespace == res.GetNamespace() || res.GetNamespace() == "")
}

// unhashed returns an object's name without the hash of its content that kustomize appends.
func (l *locator) unhashed(object int) string {
	name := l.resources[object].GetName()
	if l.isGenerated(object) {
		name = origin.ContentHash.ReplaceAllString(name, "")
	}
	return name
}

// renamed returns the name of an object after a kustomization's prefix and suffix, which kustomize does not
// add for some kinds (PrefixTransformer and SuffixTransformer). A Namespace is renamed to `namespace`.
func renamed(k *build.Kustomization, kind, name string) string {
	switch kind {
	case "Namespace":
		return cmp.Or(k.Spec.Namespace, name)
	case "CustomResourceDefinition", "APIService":
		return name
	}
	return k.Spec.NamePrefix + name + k.Spec.NameSuffix
}

// written returns the name and namespace of an object in its own document.
func (l *locator) written(object int, document tree.Position) (name, namespace string) {
	if l.isGenerated(object) {
		names := l.identity(object, document).names
		return names[len(names)-1], ""
	}
	doc := l.ownDocument(object, document)
	if doc == nil {
		return "", ""
	}
	metadata, _ := origin.ChildOf(doc.node, "metadata", 0)
	return origin.ScalarField(metadata.Value, "name"), origin.ScalarField(metadata.Value, "namespace")
}

// ownDocument returns the document or List item that an object was read from; nil if there is none, or several
// items match.
func (l *locator) ownDocument(object int, document tree.Position) *ownDocument {
	if known, ok := l.chains.documents[document]; ok {
		return known.of(l.identity(object, document))
	}
	if l.chains.documents == nil {
		l.chains.documents = map[tree.Position]*ownDocument{}
	}
	var found *ownDocument
	for i := range l.padder.Ranges {
		r := &l.padder.Ranges[i]
		if doc := r.Written(); doc != nil && r.IsAt(document) {
			found = &ownDocument{node: doc, snippet: r.Snippet}
			break
		}
	}
	l.chains.documents[document] = found
	return found.of(l.identity(object, document))
}

// of returns the item of a List that is the object, or the document itself if it is no List.
func (d *ownDocument) of(id identity) *ownDocument {
	if d == nil || origin.ScalarField(d.node, "kind") == id.kind {
		return d
	}
	items, ok := origin.ChildOf(d.node, "items", 0)
	if !ok {
		return nil
	}
	var found *ownDocument
	for _, item := range items.Value.Content {
		if id.isOf(origin.Unalias(item)) {
			if found != nil {
				return nil
			}
			found = &ownDocument{node: origin.Unalias(item), snippet: d.snippet}
		}
	}
	return found
}

// routesFrom returns the routes from a file to the root.
func (l *locator) routesFrom(file string) []*route {
	var out []*route
	for _, way := range l.ways(file) {
		out = append(out, l.routeAlong(way))
	}
	if k := l.padder.Kustomization(file); k != nil { // for generated objects
		if k == l.closure.Files[0] {
			return []*route{{entry: tree.Position{Path: k.Path}, stages: l.within(nil, k, tree.Position{}, 0)}}
		}
		for _, way := range l.ways(k.Dir) {
			r := &route{entry: tree.Position{Path: k.Path}, stages: l.within(nil, k, way[0].Position(), 0)}
			if way[0].Kind == build.RefBase {
				asComponent(r.stages, k)
			}
			r.stages = append(r.stages, l.routeAlong(way).stages...)
			out = append(out, r)
		}
	}
	return out
}

// ways returns the lists of entries that lead from a file or directory to the root, the nearest entry first;
// nil when there are more than maxRoutes.
func (l *locator) ways(to string) [][]build.Entry {
	if l.chains.uses == nil {
		l.chains.uses = map[string][]build.Entry{}
		for _, e := range l.closure.Entries {
			if e.Target != "" && (e.Kind == build.RefResource || e.Kind == build.RefBase) {
				real := l.tree.Resolve(e.Target).Real
				l.chains.uses[real] = append(l.chains.uses[real], e)
			}
		}
	}
	var out [][]build.Entry
	var follow func(to string, sofar []build.Entry)
	follow = func(to string, sofar []build.Entry) {
		for _, e := range l.chains.uses[to] {
			way := append(sofar[:len(sofar):len(sofar)], e)
			switch {
			case len(out) > maxRoutes:
				return
			case e.From == l.closure.Files[0]:
				out = append(out, way)
			default:
				follow(e.From.Dir, way)
			}
		}
	}
	follow(to, nil)
	if len(out) > maxRoutes {
		return nil
	}
	return out
}

// routeAlong returns the route of a list of entries.
func (l *locator) routeAlong(way []build.Entry) *route {
	r := &route{entry: way[0].Position()}
	for i, e := range way {
		var up tree.Position
		if i+1 < len(way) {
			up = way[i+1].Position()
		}
		next := 0
		if e.Kind == build.RefBase {
			next = 1 + componentIndex(e)
		}
		r.stages = l.within(r.stages, e.From, up, next)
		if i+1 < len(way) && way[i+1].Kind == build.RefBase {
			asComponent(r.stages, e.From)
		}
	}
	return r
}

func componentIndex(e build.Entry) int {
	i, _ := e.At[len(e.At)-1].(int)
	return i
}

// within appends a kustomization's stages: its generators, its components from an index on, its own changes.
// Kustomize runs them in this order (accumulateTarget).
func (l *locator) within(stages []stage, k *build.Kustomization, by tree.Position, from int) []stage {
	builtins, ok := l.chains.builtins[k]
	if !ok {
		if l.chains.builtins == nil {
			l.chains.builtins = map[*build.Kustomization][]*build.Kustomization{}
		}
		builtins = l.builtins(k)
		l.chains.builtins[k] = builtins
	}
	if from == 0 {
		stages = append(stages, stage{k: k, builtins: builtins, entry: by, generates: true})
	}
	for _, e := range l.closure.Entries {
		if e.From != k || e.Kind != build.RefBase || componentIndex(e) < from {
			continue
		}
		dir := l.tree.Resolve(e.Target).Real
		i := slices.IndexFunc(l.closure.Files, func(c *build.Kustomization) bool { return c.Dir == dir })
		if i < 0 || len(stages) > maxStages {
			continue
		}
		stages = l.within(stages, l.closure.Files[i], e.Position(), 0)
		asComponent(stages, l.closure.Files[i])
	}
	return append(stages, stage{k: k, builtins: builtins, entry: by})
}

// asComponent marks the stages of a kustomization that is used as a component.
func asComponent(stages []stage, k *build.Kustomization) {
	for i := range stages {
		if stages[i].k == k {
			stages[i].component = true
		}
	}
}

// maxStages limits the stages of components that include each other.
const maxStages = 1000
