package locate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Traced is a release that was rendered with a trace, and functions to find its parts in the tree.
type Traced struct {
	Release *release.Release
	// Objects are the objects of the release, rendered from Chart.
	Objects []*release.Object
	Chart   *helmchart.Chart
	// Name is the name of the chart for messages, and Named the place that names it.
	Name  string
	Named tree.Position
	// Written returns where the value of a leaf is written in the tree; ok is false if it is not in the tree.
	Written func(l *Leaf) (place origin.Place, ok bool)
	// ReleaseAt returns where the Name or Namespace of the release is written; nil if that is unknown.
	ReleaseAt func(field string) (place origin.Place, ok bool)
	// IsDefault reports whether the chart's values set a leaf that is among the user's values; nil if they set
	// none.
	IsDefault func(l *Leaf) bool
}

// Tracer finds where fields of the objects of a release come from. It is safe for concurrent use.
type Tracer struct {
	Traced
	ctx context.Context
	// ready is the release prepared for trials.
	ready *release.Ready

	mu     sync.Mutex
	leaves []*Leaf
	// complete is set when leaves includes fields of the release and the chart.
	complete bool
	// hollow are the empty mappings and lists, set on first use.
	hollow  []*Leaf
	objects map[int]*object
	files   map[string]*templateFile
	reads   map[string]*reads
	trials  int
	// begun are the last trials for a field, which renders of the whole release continue.
	begun []begun
	// ahead are trials for a field that are not used yet.
	ahead map[*Leaf]attempts
	// nodes caches parsed YAML files of the chart and its dependencies; nil for missing ones.
	nodes map[string]*yaml.Node

	// wholes are renders of the whole release with other values of a leaf, in the order of these values;
	// wholesLeft is how many more are allowed; documents are the objects' documents by file.
	wholes     map[*Leaf][]wholeTrial
	wholesLeft int
	documents  map[string][]*release.Document
}

// New returns a Tracer of a release.
func New(ctx context.Context, of Traced) *Tracer {
	return &Tracer{Traced: of, ctx: ctx, ready: of.Release.Ready(), leaves: LeavesOf(of.Release.Values, of.defaults()), objects: map[int]*object{}, files: map[string]*templateFile{}, reads: map[string]*reads{},
		ahead: map[*Leaf]attempts{}, wholes: map[*Leaf][]wholeTrial{}, nodes: map[string]*yaml.Node{}}
}

// object is an object of the release.
type object struct {
	*Tracer
	made *release.Object
	// node is the parsed document; nil if there is none.
	node *yaml.Node
	// keeping is set on first use.
	keeping *keeping
}

// object returns an object by its index. The caller holds the lock.
func (t *Tracer) object(index int) *object {
	o, ok := t.objects[index]
	if !ok {
		o = &object{Tracer: t, made: t.Objects[index]}
		if d := o.made.Document; d != nil {
			o.node = d.Node()
		}
		t.objects[index] = o
	}
	return o
}

// Document returns where an object as a whole comes from: the template if that is in the tree, else Named.
func (t *Tracer) Document(index int) tree.Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.object(index)
	name, ok := t.pathOf(o.made.File)
	if !ok {
		return t.Named
	}
	at := tree.Position{Path: name, Line: 1}
	if o.node == nil {
		return at
	}
	if places := o.made.Document.Trace(o.node); len(places) > 0 && places[0].File != "" {
		if name, ok := t.pathOf(places[0].File); ok {
			at = tree.Position{Path: name, Line: places[0].Line}
		}
	}
	return at
}

// Field is a field of an object that templates make.
type Field struct {
	Path string
	// Applied is the path of the field after post-renderers, which may move items of lists.
	Applied string
}

// Place returns the place of a field, given its present value; found is false for a field that the object does
// not have.
func (t *Tracer) Place(index int, field string, part origin.Part, value any, found bool) origin.Place {
	return t.PlaceOf(index, Field{field, field}, part, value, found)
}

// PlaceOf is Place for a field whose path may differ in the applied object.
func (t *Tracer) PlaceOf(index int, field Field, part origin.Part, value any, found bool) origin.Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { // they are large
		t.begun = nil
		clear(t.ahead)
	}()
	l := t.object(index).search(field.Path, part, value, found)
	l.applied = field.Applied
	return l.place()
}

// place returns the place of the field.
func (l *fieldSearch) place() origin.Place {
	leaf, without := l.deciding()
	if leaf == nil {
		if place, ok := l.around(); ok {
			return place
		}
	}
	place := l.placeOf(leaf)
	if place.Found() && leaf != nil && leaf != without {
		text := l.placeOf(without)
		place.Text = &text
	}
	if place.Found() && l.there {
		place.Also = append(l.also(leaf), l.templates(leaf, place)...)
	}
	return place
}

// templates returns the other places where templates wrote text of the field, or called a template that did,
// if leaf does not decide the field alone.
func (l *fieldSearch) templates(leaf *Leaf, of origin.Place) (places []origin.Place) {
	var from []engine.Place
	switch {
	case l.block:
		from = append(from, l.at)
	case leaf == nil, !l.literal && !leaf.writes(l.clue.text):
		from = slices.Concat(l.ways...)
	}
	for _, p := range from {
		name, ok := l.inTree(p)
		at := tree.Position{Path: name, Line: p.Line}
		if ok && at != of.Position && !slices.ContainsFunc(places, func(known origin.Place) bool { return known.Position == at }) {
			places = append(places, origin.Place{Position: at, Evidence: origin.Inferred})
		}
	}
	return places
}

// placeOf returns where a deciding value is written; if leaf is nil, where a template writes the field.
func (l *fieldSearch) placeOf(leaf *Leaf) origin.Place {
	if leaf != nil {
		return l.placeOfLeaf(leaf)
	}
	name, ok := l.inTree(l.at)
	if !ok {
		return origin.Place{Position: l.Named, Why: l.madeBy(l.at)}
	}
	place := origin.Place{Position: tree.Position{Path: name, Line: l.at.Line}, Evidence: origin.Inferred}
	switch {
	case !l.there:
		place.Evidence = origin.Nearest
	case l.literal:
		place.Evidence = origin.Marked
	}
	return place
}

// inTree returns the path of a place's file; ok is false if that is not in the tree.
func (t *Tracer) inTree(p engine.Place) (string, bool) {
	if p.File == "" {
		return "", false
	}
	return t.pathOf(p.File)
}

// pathOf returns the path in the tree of a file of the chart; ok is false if it is not in the tree.
func (t *Tracer) pathOf(file string) (name string, ok bool) {
	return t.Release.Chart.Directories.Path(t.Chart, file)
}

// madeBy returns a message about the part of the chart that makes a field.
func (t *Tracer) madeBy(template engine.Place) string {
	why := "it is made by " + t.Name
	if template.File != "" {
		_, file, _ := strings.Cut(template.File, "/")
		why += fmt.Sprintf(" %s:%d", file, template.Line)
	}
	return why
}

// lineIn returns the position of the value at a path in a document or, if above is not 0, of the key so many
// steps above; 0 if it does not exist.
func lineIn(n *yaml.Node, of []any, above int) (line, column int) {
	at := n
	for i, step := range of {
		holder := origin.Unalias(n)
		if n = below(n, step); n == nil {
			return 0, 0
		}
		if i+above >= len(of) {
			continue
		}
		if at = n; above > 0 {
			at = keyOf(holder, step, n)
		}
	}
	if n == nil {
		return 0, 0
	}
	return at.Line, at.Column
}

// keyOf returns the key of a value in its parent; the value itself for an item of a list.
func keyOf(holder *yaml.Node, step any, value *yaml.Node) *yaml.Node {
	name, ok := step.(string)
	if !ok {
		return value
	}
	found, _ := origin.ChildOf(holder, name, 0)
	return found.Key
}

// FieldOf returns a path as a field path.
func FieldOf(prefix string, path []any) string {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			prefix = origin.AppendKey(prefix, step)
		case int:
			prefix = fmt.Sprintf("%s[%d]", prefix, step)
		}
	}
	return prefix
}

// IsScalar reports whether a value is neither a mapping nor a list.
func IsScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
