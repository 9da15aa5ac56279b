package helm

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// layers find where the values of a release are set: in spec.values, in objects of valuesFrom, in the chart's
// values.yaml.
type layers struct {
	*installed
	release *release.HelmRelease
	// parsed are the values of references; nil for references with a target path.
	parsed []map[string]any
}

func (in *installed) layersOf(h *release.HelmRelease) *layers {
	ls := &layers{installed: in, release: h}
	for _, r := range in.root.Unit.Release.References {
		var parsed common.Values
		if r.TargetPath == "" {
			parsed, _ = common.ReadValues([]byte(dataOf(r))) // invalid values set nothing
		}
		ls.parsed = append(ls.parsed, parsed)
	}
	return ls
}

// written returns the place in the tree of a leaf's value; ok is false if it is not in the tree.
func (ls *layers) written(l *locate.Leaf) (place origin.Place, ok bool) {
	if l.Default {
		return ls.inChart(l)
	}
	reference := -1
	for i, r := range ls.root.Unit.Release.References {
		if sets(r, ls.parsed[i], l.Path, l.Value) {
			reference = i
		}
	}
	_, inline := chart.At(map[string]any(ls.release.Spec.Values), l.Path)
	if inline && (reference < 0 || !winsOverInline(ls.root.Unit.Release.References[reference], l)) {
		o, err := ls.origins(ls.root.Unit.Parent, ls.root.Unit.Index)
		if err != nil {
			return place, false
		}
		field := locate.FieldOf("spec.values", l.Where())
		if place = o.Place(field, origin.Whole); place.Evidence == origin.Inferred {
			place.Via = field
		}
		return place, place.Found()
	}
	if reference < 0 {
		return place, false
	}
	return ls.inReference(ls.root.Unit.Release.References[reference], l)
}

// releaseAt returns where the Name or Namespace of the release is written.
func (ls *layers) releaseAt(field string) (place origin.Place, ok bool) {
	at := map[string]string{"Name": "metadata.name", "Namespace": "metadata.namespace"}[field]
	switch {
	case field == "Name" && ls.release.Spec.ReleaseName != "":
		at = "spec.releaseName"
	case field == "Namespace" && ls.release.Spec.TargetNamespace != "":
		at = "spec.targetNamespace"
	}
	o, err := ls.origins(ls.root.Unit.Parent, ls.root.Unit.Index)
	if err != nil {
		return place, false
	}
	place = o.Place(at, origin.Whole)
	return place, place.Found()
}

// sets reports whether a reference sets a value.
func sets(r render.Reference, parsed map[string]any, path []any, value any) bool {
	if r.TargetPath != "" {
		return dottedPath(path) == strings.NewReplacer("[", ".", "]", "").Replace(r.TargetPath)
	}
	found, ok := chart.At(parsed, path)
	return ok && locate.Text(found) == locate.Text(value)
}

// winsOverInline reports whether a reference that sets a value decides it although inline values set it too:
// these are merged last, but a target path inside one of their mappings is set in that mapping (see
// values.Merge).
func winsOverInline(r render.Reference, l *locate.Leaf) bool {
	return r.TargetPath != "" && len(l.Path) > 1 && strings.Trim(r.Data, `'"`) == locate.Text(l.Value)
}

func dottedPath(path []any) string {
	var parts []string
	for _, step := range path {
		parts = append(parts, fmt.Sprint(step))
	}
	return strings.Join(parts, ".")
}

// inChart returns where a value of the chart is written.
func (ls *layers) inChart(l *locate.Leaf) (place origin.Place, ok bool) {
	u := ls.root.Unit
	if u.Artifact != nil {
		return place, false
	}
	files := []string{path.Join(ls.root.Dir, "values.yaml")}
	if len(u.Release.ValuesFiles) > 0 {
		files = nil
		for _, name := range u.Release.ValuesFiles {
			files = append(files, path.Join(u.Checkout.Top, path.Clean("/" + name)[1:]))
		}
	}
	for _, name := range slices.Backward(files) { // the last that sets it decides
		data, err := ls.tree.Read(ls.tree.RealOr(name))
		if err != nil {
			continue
		}
		if line, column := l.LineIn(data); line > 0 {
			return origin.Place{Position: tree.Position{Path: name, Line: line, Column: column}, Evidence: origin.Marked}, true
		}
	}
	return place, false
}

// inReference returns where a leaf is written in a ConfigMap or Secret.
func (ls *layers) inReference(r render.Reference, l *locate.Leaf) (place origin.Place, ok bool) {
	if r.File != "" {
		line, column := l.LineIn([]byte(r.Data))
		return origin.Place{Position: tree.Position{Path: r.File, Line: line, Column: column}, Evidence: origin.Marked}, line > 0
	}
	o, err := ls.origins(r.Written.Root, r.Written.Index)
	if err != nil {
		return place, false
	}
	place = o.Place(r.Written.Path, origin.Whole)
	if !place.Found() || r.TargetPath != "" {
		return place, place.Found()
	}
	line, column := l.LineIn([]byte(dataOf(r)))
	data, err := ls.tree.Read(ls.tree.RealOr(place.Path))
	if line == 0 || err != nil {
		return place, true
	}
	file, _ := render.CutSOPS(string(data))
	if strings.TrimSpace(file) == strings.TrimSpace(r.Data) { // a generator included the file
		place.Position = tree.Position{Path: place.Path, Line: line, Column: column}
		return place, true
	}
	place.Position = origin.InScalar(strings.Split(string(data), "\n"), place.Position, dataOf(r), tree.Position{Line: line, Column: column})
	return place, true
}
