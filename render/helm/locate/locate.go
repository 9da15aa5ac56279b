package locate

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
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
	// IsDefault reports whether the values of the chart set a leaf that is among those of its user; nil
	// for none.
	IsDefault func(l *Leaf) bool
}

// Tracer finds where fields of the objects of a release come from. It is safe for concurrent use.
type Tracer struct {
	Traced
	ctx context.Context

	mu      sync.Mutex
	leaves  []*Leaf
	objects map[int]*object
	files   map[string]*templateFile
	trials  int
}

// New returns a Tracer of a release.
func New(ctx context.Context, of Traced) *Tracer {
	return &Tracer{Traced: of, ctx: ctx, leaves: LeavesOf(of.Release.Values, of.defaults()), objects: map[int]*object{}, files: map[string]*templateFile{}}
}

// object is an object that is looked at.
type object struct {
	*Tracer
	made *release.Object
	// node is the parsed document; nil if there is none.
	node *yaml.Node
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

// Place finds where a field comes from that has a value now; found is false for one that the object
// does not have.
func (t *Tracer) Place(index int, field string, part origin.Part, value any, found bool) origin.Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.look(index, field, part, value, found).place()
}

// look finds what is known of a field before values are tried. It is called with the lock held.
func (t *Tracer) look(index int, field string, part origin.Part, value any, found bool) *looked {
	o := t.object(index)
	c := clue{field: field, text: Text(value), found: found && IsScalar(value)}
	for _, step := range origin.ParsePath(field) {
		if !step.Indexed {
			c.keys = append(c.keys, step.Key)
		}
	}
	if name, version := origin.SplitImage(c.text); strings.HasSuffix(field, ".image") && part != origin.Whole {
		c.text = map[origin.Part]string{origin.Front: name, origin.Back: strings.TrimLeft(version, ":@")}[part]
	}
	l := &looked{object: o, there: found}
	l.template, l.literal = o.template(field)
	if lines := o.linesOf(l.template); l.template.Line >= 1 && l.template.Line <= len(lines) {
		c.template, c.around = lines[l.template.Line-1], around(lines, l.template.Line)
	}
	l.clue = c
	return l
}

// looked is a field that is looked for.
type looked struct {
	*object
	clue
	// there is set when the object has the field.
	there bool
	// template is the part of a template that wrote it, literal set when it is text of it.
	template engine.Place
	literal  bool
}

// place is where the field comes from.
func (l *looked) place() origin.Place {
	if leaf := l.deciding(); leaf != nil {
		return l.placeOf(leaf)
	}
	if name, ok := l.inTree(l.template); ok {
		place := origin.Place{Position: tree.Position{Path: name, Line: l.template.Line}, Evidence: origin.Inferred}
		if l.literal && l.there {
			place.Evidence = origin.Marked
		}
		if !l.there {
			place.Evidence = origin.Nearest
		}
		return place
	}
	return origin.Place{Position: l.Named, Why: l.madeBy(l.template)}
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

// deciding is the value that decides the field; nil when none is found.
func (l *looked) deciding() *Leaf {
	if !l.found || l.made.Document == nil {
		return nil
	}
	for i, leaf := range l.candidates(l.leaves) {
		if i == fieldTries {
			break
		}
		if l.changes(leaf, l.field) {
			return leaf
		}
	}
	return nil
}

// placeOf is where the value is written that decides the field.
func (l *looked) placeOf(leaf *Leaf) origin.Place {
	if place, ok := l.Written(leaf); ok {
		return place
	}
	why := l.madeBy(l.template)
	if leaf.Default || l.IsDefault != nil && l.IsDefault(leaf) {
		if file, line, column := l.defaultOf(leaf.Path); line > 0 {
			if name, ok := l.pathOf(file); ok && leaf.Default {
				return origin.Place{Position: tree.Position{Path: name, Line: line, Column: column}, Evidence: origin.Marked}
			}
			_, file, _ = strings.Cut(file, "/")
			why += fmt.Sprintf(" <- %s:%d (default)", file, line)
		}
	}
	return origin.Place{Position: l.Named, Why: why}
}

// template is the part of a template that wrote a field, or what is nearest around it; literal is
// set when it is the text of the template.
func (o *object) template(field string) (place engine.Place, literal bool) {
	d, n := o.made.Document, o.node
	if d == nil || n == nil {
		return place, false
	}
	found := true
	for steps := origin.ParsePath(field); len(steps) > 0; {
		next, used := child(n, steps)
		if next == nil {
			found = false
			break
		}
		n, steps = next, steps[used:]
	}
	for _, p := range d.Trace(n) {
		if p.File != "" {
			return p, found && d.IsLiteral(n)
		}
	}
	return place, false
}

// child goes as many steps of a field path as make a key or an index.
func child(n *yaml.Node, steps []origin.PathStep) (*yaml.Node, int) {
	if s := steps[0]; s.Indexed && n.Kind == yaml.SequenceNode {
		return below(n, s.Index), 1
	}
	var keys []string
	for i, s := range steps {
		keys = append(keys, s.Key)
		if value := below(n, strings.Join(keys, ".")); value != nil {
			return value, i + 1
		}
	}
	return nil, 0
}

// below goes one step, a key as it is written or an index, into a node; nil when that is not there.
func below(n *yaml.Node, step any) *yaml.Node {
	key, ok := step.(string)
	if !ok {
		_, value := origin.Child(n, step)
		return origin.Unalias(value)
	}
	if n = origin.Unalias(n); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	found, _ := origin.ChildOf(n, key, 0)
	return found.Value
}

// linesOf are the lines of a template.
func (t *Tracer) linesOf(p engine.Place) []string {
	data, ok := chart.Raw(t.Chart, p.File)
	if !ok {
		return nil
	}
	return strings.Split(string(data), "\n")
}

// LineOf is where what a path leads to is written in YAML.
func LineOf(data []byte, of []any) (line, column int) {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return 0, 0
	}
	n := doc.Content[0]
	for _, step := range of {
		if n = below(n, step); n == nil {
			return 0, 0
		}
	}
	return n.Line, n.Column
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
