package inflate

import (
	"context"
	"sort"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Origins resolve places in the objects of inflated charts.
type Origins struct {
	charts  map[string]*Chart
	tracers map[string]*locate.Tracer
}

// OriginsOf returns the Origins of inflated charts.
func OriginsOf(ctx context.Context, charts []*Chart) *Origins {
	o := &Origins{map[string]*Chart{}, map[string]*locate.Tracer{}}
	for _, c := range charts {
		named := c.Field("version")
		if c.Version == "" {
			named = c.Field("name")
		}
		o.charts[c.file] = c
		o.tracers[c.file] = locate.New(ctx, locate.Traced{
			Release: c.release, Objects: c.Objects, Chart: c.rendered.Chart, Name: "chart " + c.release.Chart.Name() + " " + c.release.Chart.Metadata.Version,
			Named: named, Written: c.written, IsDefault: c.isDefault,
		})
	}
	return o
}

// Of returns an origin in which places in the text that kustomize read are replaced with the lines of charts
// and of values that decide the fields.
func (o *Origins) Of(under *origin.Origin) *origin.Origin {
	if len(o.charts) == 0 {
		return under
	}
	return under.Resolved(o.resolve)
}

// resolve returns the place of a field in the objects of a chart; ok is false for other places.
func (o *Origins) resolve(field string, part origin.Part, at origin.Place) (place origin.Place, ok bool) {
	c := o.charts[at.Path]
	if c == nil {
		return at, false
	}
	t, i := o.tracers[at.Path], c.objectAt(at.Line)
	if field == "" || i < 0 {
		return origin.Place{Position: t.Document(max(i, 0)), Evidence: at.Evidence}, true
	}
	if !at.Found() {
		place = t.Place(i, field, part, nil, false)
		if place.Why == "" {
			place.Why = at.Why
		}
		return place, true
	}
	original, value := c.fieldAt(i, at.Position)
	if original == "" {
		return origin.Place{Position: t.Document(i), Why: "it is made by " + t.Name}, true
	}
	return t.Place(i, original, part, value, true), true
}

// objectAt returns the index of the object at a line.
func (c *Chart) objectAt(line int) int {
	return sort.Search(len(c.lines), func(i int) bool { return c.lines[i] > line }) - 1
}

// fieldAt returns the field of an object at a position in the text that kustomize reads.
func (c *Chart) fieldAt(i int, at tree.Position) (field string, value any) {
	d := c.Objects[i].Document
	if d == nil {
		return "", nil
	}
	line := at.Line - c.lines[i] + 1
	var walk func(n *yaml.Node, field string) bool
	walk = func(n *yaml.Node, path string) bool {
		switch n.Kind {
		case yaml.MappingNode:
			for j := 0; j+1 < len(n.Content); j += 2 {
				inner := origin.AppendKey(path, n.Content[j].Value)
				if walk(n.Content[j+1], inner) {
					return true
				}
				if n.Content[j].Line == line && (at.Column == 0 || n.Content[j].Column == at.Column) {
					field = inner
					return true
				}
			}
		case yaml.SequenceNode:
			for j, item := range n.Content {
				if walk(item, locate.FieldOf(path, []any{j})) {
					return true
				}
			}
		}
		if n.Line == line && (at.Column == 0 || n.Column == at.Column) && n.Kind != yaml.MappingNode && path != "" {
			field = path
			return true
		}
		return false
	}
	if n := d.Node(); n == nil || !walk(n, "") {
		return "", nil
	}
	value, _ = origin.Field(d.Content(), field)
	return field, value
}

// setBy returns the layer that sets a value: the one with the highest precedence that contains it.
func (c *Chart) setBy(l *locate.Leaf) (layer, int, int, bool) {
	for _, from := range c.given.layers {
		if from.inline {
			if _, ok := chart.At(c.ValuesInline, l.Path); ok {
				return from, 0, 0, true
			}
			continue
		}
		if line, column := l.LineIn(from.data); line > 0 {
			return from, line, column, true
		}
	}
	return layer{}, 0, 0, false
}

// written returns where a value is written in the tree.
func (c *Chart) written(l *locate.Leaf) (place origin.Place, ok bool) {
	from, line, column, ok := c.setBy(l)
	switch {
	case !ok && l.Default: // another file replaces that of the chart
		from.name = c.ownValues()
		if line, column = c.defaultLine(l); from.name == "" || line == 0 {
			return place, false
		}
	case !ok, from.name == "" && !from.inline:
		return place, false
	case from.inline && c.At == nil:
		return origin.Place{Position: c.Position, Evidence: origin.Inferred}, true
	case from.inline:
		at := c.Field(append([]any{c.inlineField()}, l.Where()...)...)
		return origin.Place{Position: at, Evidence: origin.Marked}, true
	}
	return origin.Place{Position: tree.Position{Path: from.name, Line: line, Column: column}, Evidence: origin.Marked}, true
}

// inlineField returns the field of inline values.
func (c *Chart) inlineField() string {
	if c.At[0] == "helmChartInflationGenerator" {
		return "valuesLocal"
	}
	return "valuesInline"
}

// defaultLine returns the line of a value in the chart's values.yaml.
func (c *Chart) defaultLine(l *locate.Leaf) (line, column int) {
	for _, f := range c.release.Chart.Raw {
		if f.Name == "values.yaml" {
			return l.LineIn(f.Data)
		}
	}
	return 0, 0
}

// isDefault reports whether the chart's values.yaml sets a value, which kustomize passes to Helm as a user's
// value.
func (c *Chart) isDefault(l *locate.Leaf) bool {
	from, _, _, ok := c.setBy(l)
	return ok && !from.inline && c.ValuesFile == "" && (from.name == "" || c.Dir != "" && from.name == c.Dir+"/values.yaml")
}
