package argocd

import (
	"context"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render"
	overlaid "github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// tracedRelease finds where the objects of a release were written. It changes values and renders again to find the
// value that decides a field. Otherwise the place is in the template, if that is in the tree, or where the chart is
// named.
type tracedRelease struct {
	*helmPart
	run *run
	// objects are the rendered objects, and chart is their chart.
	objects []*release.Object
	chart   *helmchart.Chart
	// items are the objects after lists were expanded.
	items []itemOf
	// layers are the values of each option of the Application; the first one has precedence.
	layers []layer
}

// itemOf is an expanded object of a rendered object.
type itemOf struct {
	index int
	// at is its path in the rendered object; empty for the whole object.
	at     string
	object *render.Object
}

// layer is an option that sets values.
type layer struct {
	values map[string]any
	// file is set for a file of values, or a text of several lines in the Application.
	file *values.File
	// field is the option.
	field string
}

// origins returns the origins of the items.
func (t *tracedRelease) origins(ctx context.Context) ([]*origin.Origin, error) {
	t.layers = t.run.given.layers()
	name := "chart " + t.run.Chart.Name() + " " + t.run.Chart.Metadata.Version
	tracer := locate.New(ctx, locate.Traced{
		Release: t.run.Release, Objects: t.objects, Chart: t.chart, Name: name, Named: t.named(), Written: t.writtenAt, ReleaseAt: t.releaseAt,
	})
	all := make([]*origin.Origin, len(t.items))
	for i, item := range t.items {
		all[i] = origin.New(func() origin.Places {
			return origin.Places{
				Document: tracer.Document(item.index), Texts: true,
				Find: func(field string, part origin.Part) origin.Place {
					value, found := origin.Field(item.object.Content(), field)
					return tracer.Place(item.index, fieldIn(item.at, field), part, value, found)
				},
				History: locate.History(func(field string, part origin.Part, at origin.Place) []origin.Step {
					value, found := origin.Field(item.object.Content(), field)
					return tracer.Steps(item.index, fieldIn(item.at, field), part, value, found, at)
				}),
			}
		})
	}
	return all, nil
}

// fieldIn returns the path of a field of an object that is at a path.
func fieldIn(at, field string) string {
	if at == "" || strings.HasPrefix(field, "[") {
		return at + field
	}
	return at + "." + field
}

// named returns where the Application names the chart.
func (t *tracedRelease) named() tree.Position {
	switch {
	case t.from.IsChart():
		return t.written(t.field("targetRevision"))
	case t.top != ".":
		return t.written(t.field("repoURL"))
	}
	return t.written(t.field("path"))
}

// releaseAt returns where the Name or Namespace of the release is written: in an option, or else in the name of the
// Application or in its destination.
func (t *tracedRelease) releaseAt(field string) (place origin.Place, ok bool) {
	option, other := "helm.releaseName", "metadata.name"
	if field == "Namespace" {
		option, other = "helm.namespace", "spec.destination.namespace"
	}
	if place = t.place(option); !place.Found() {
		place = t.root.Unit.Place(context.Background(), other)
	}
	return place, place.Found()
}

// layers returns the options that set values; the first one has precedence.
func (g *given) layers() []layer {
	var all []layer
	for i, f := range g.files {
		set, err := values.FromCommandLine([]values.File{f}, nil)
		if err == nil {
			all = append(all, layer{values: set, file: &g.files[i], field: g.fields[i]})
		}
	}
	assigned := make([]int, len(g.assigned))
	for i := range assigned {
		assigned[i] = i
	}
	slices.SortStableFunc(assigned, func(a, b int) int { return g.assigned[a].Rank() - g.assigned[b].Rank() })
	for _, i := range assigned {
		set, err := values.FromCommandLine(nil, g.assigned[i:i+1])
		if err == nil {
			all = append(all, layer{values: set, field: g.assignedFields[i]})
		}
	}
	slices.Reverse(all)
	return all
}

// writtenAt returns where the value of a leaf is written; ok is false if it is not in the tree.
func (t *tracedRelease) writtenAt(l *locate.Leaf) (place origin.Place, ok bool) {
	for _, from := range t.layers {
		if value, ok := chart.At(from.values, l.Path); ok && locate.Text(value) == locate.Text(l.Value) {
			return t.inLayer(from, l)
		}
	}
	if name, ok := t.run.Chart.Directories.Path(t.chart, t.chart.ChartFullPath()+"/values.yaml"); ok && l.Default {
		return t.inFile(name, l)
	}
	return place, false
}

// inLayer returns where an option sets a leaf.
func (t *tracedRelease) inLayer(from layer, l *locate.Leaf) (place origin.Place, ok bool) {
	content := t.run.given.contents[from.field]
	switch {
	case content != "":
		place = t.inSource(content, origin.Place{Position: tree.Position{Path: content, Line: 1}, Evidence: origin.Inferred})
	case from.file == nil:
		place = t.place(from.field)
	case from.field == "helm.valuesObject":
		place = t.place(locate.FieldOf(from.field, l.Where()))
	case from.field == "helm.values":
		if place = t.place(origin.InText(from.field, locate.FieldOf("", l.Where()))); place.IsText {
			line, column := l.LineIn(from.file.Data)
			place = place.InScalar(t.linesOf(place.Path), string(from.file.Data), tree.Position{Line: line, Column: column})
		}
	default:
		return t.inFile(from.file.Name, l)
	}
	return place, place.Found()
}

// inFile returns where a file of values sets a leaf.
func (t *tracedRelease) inFile(name string, l *locate.Leaf) (place origin.Place, ok bool) {
	data, err := t.tree.Read(t.tree.RealOr(name))
	if err != nil {
		return place, false
	}
	line, column := l.LineIn(data)
	if line == 0 {
		return place, false
	}
	return t.inSource(name, origin.Place{Position: tree.Position{Path: name, Line: line, Column: column}, Evidence: origin.Marked}), true
}

// inSource returns a place in a file. For a file outside of this repository, it is the place where the Application
// names the source with the file.
func (t *tracedRelease) inSource(name string, at origin.Place) origin.Place {
	if !overlaid.Under(name) || t.top != "." && strings.HasPrefix(name, t.top+"/") {
		return at
	}
	for i := range t.app.AllSources() {
		if top, problem := t.topOf(i); problem == "" && top != "." && strings.HasPrefix(name, top+"/") {
			return origin.Place{Position: t.written(t.app.SourceField(i) + ".repoURL"), Why: "the value is set in " + name + ", which is not in the repository"}
		}
	}
	return at
}
