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

// Traced is a release that was rendered with a trace, and what is known of where its parts are.
type Traced struct {
	Release *release.Release
	// Objects are what the release was rendered to, of Chart.
	Objects []*release.Object
	Chart   *helmchart.Chart
	// Name names the chart, and Named is where it is named.
	Name  string
	Named tree.Position
	// Written returns where the value of a leaf is written in the tree; ok is false for one that the
	// tree does not have.
	Written func(l *Leaf) (place origin.Place, ok bool)
	// ReleaseAt returns where the Name or Namespace of the release is written; nil where that is not known.
	ReleaseAt func(field string) (place origin.Place, ok bool)
	// IsDefault reports whether the values of the chart set a leaf that is among those of its user; nil
	// for none.
	IsDefault func(l *Leaf) bool
}

// Tracer finds where fields of the objects of a release come from. It is safe for concurrent use.
type Tracer struct {
	Traced
	ctx context.Context
	// ready is the release for trials.
	ready *release.Ready

	mu     sync.Mutex
	leaves []*Leaf
	// complete is set when those of the release and the chart are among the leaves.
	complete bool
	// hollow are mappings and lists with nothing in them, once they were asked for.
	hollow  []*Leaf
	objects map[int]*object
	files   map[string]*templateFile
	reads   map[string]*reads
	trials  int
	// begun are the last trials for a field, which are taken up again for a render of the whole release.
	begun []begun
	// ahead are trials for a field that were not asked for so far.
	ahead map[*Leaf]attempts
	// values are the files of values of the chart and its dependencies, those that were asked for; nil for what is none.
	values map[string]*yaml.Node

	// wholes are renders of the whole release with other values of a leaf, in the order of these, wholesLeft is how many
	// more there may be, and documents are those of the objects by their files.
	wholes     map[*Leaf][]wholeTrial
	wholesLeft int
	documents  map[string][]*release.Document
}

// New returns a Tracer of a release.
func New(ctx context.Context, of Traced) *Tracer {
	return &Tracer{Traced: of, ctx: ctx, ready: of.Release.Ready(), leaves: LeavesOf(of.Release.Values, of.defaults()), objects: map[int]*object{}, files: map[string]*templateFile{}, reads: map[string]*reads{},
		ahead: map[*Leaf]attempts{}, wholes: map[*Leaf][]wholeTrial{}, values: map[string]*yaml.Node{}}
}

// object is an object that is looked at.
type object struct {
	*Tracer
	made *release.Object
	// node is the parsed document; nil if there is none.
	node *yaml.Node
	// keeping decides whether the object is there, once it was asked for.
	keeping *keeping
}

// object returns an object by its index. It is called with the lock held.
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

// Document is where an object as a whole comes from: the template, if that is in the tree.
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
	// Applied is the field once the object has passed post-renderers, which may move items of lists.
	Applied string
}

// Place finds where a field comes from that has a value now; found is false for one that the object
// does not have.
func (t *Tracer) Place(index int, field string, part origin.Part, value any, found bool) origin.Place {
	return t.PlaceOf(index, Field{field, field}, part, value, found)
}

// PlaceOf is Place for a field that may be another one once the object is applied.
func (t *Tracer) PlaceOf(index int, field Field, part origin.Part, value any, found bool) origin.Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { // they are large
		t.begun = nil
		clear(t.ahead)
	}()
	l := t.object(index).look(field.Path, part, value, found)
	l.applied = field.Applied
	return l.place()
}

// place is where the field comes from.
func (l *looked) place() origin.Place {
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

// templates are where else templates wrote text of the field, which leaf does not decide alone or is not itself, or called
// what wrote it.
func (l *looked) templates(leaf *Leaf, of origin.Place) (places []origin.Place) {
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

// placeOf is where a value is written that decides the field, or the field in a template; leaf is nil for that.
func (l *looked) placeOf(leaf *Leaf) origin.Place {
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

// inTree is the path of the file of a place, if that is in the tree.
func (t *Tracer) inTree(p engine.Place) (string, bool) {
	if p.File == "" {
		return "", false
	}
	return t.pathOf(p.File)
}

// pathOf is the path in the tree of a file of the chart; ok is false for one that is not there.
func (t *Tracer) pathOf(file string) (name string, ok bool) {
	return t.Release.Chart.Directories.Path(t.Chart, file)
}

// madeBy says which part of the chart makes a field.
func (t *Tracer) madeBy(template engine.Place) string {
	why := "it is made by " + t.Name
	if template.File != "" {
		_, file, _ := strings.Cut(template.File, "/")
		why += fmt.Sprintf(" %s:%d", file, template.Line)
	}
	return why
}

// parsed is the first document of a text; nil if there is none.
func parsed(data []byte) *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// lineIn is where what a path leads to is in a document, or the key of what is so many steps above; 0 when it is not
// there.
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

// keyOf is the key by which a step leads to a value; the value itself for an item of a list.
func keyOf(holder *yaml.Node, step any, value *yaml.Node) *yaml.Node {
	name, ok := step.(string)
	if !ok {
		return value
	}
	found, _ := origin.ChildOf(holder, name, 0)
	return found.Key
}

// FieldOf is a path as a field.
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
