package locate

import (
	"strings"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// The objects of templates beside Values.
const (
	ofRelease = "Release"
	ofChart   = "Chart"
)

// chartField returns the field of Chart.yaml for its name in templates.
func chartField(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// allLeaves returns the values, and the fields of the release and its chart that templates see and that are
// written in the tree.
func (t *Tracer) allLeaves() []*Leaf {
	if !t.complete {
		t.complete = true
		for _, l := range builtins(t.Release) {
			if _, ok := t.builtinAt(l); ok {
				t.leaves = append(t.leaves, l)
			}
		}
	}
	return t.leaves
}

// builtins returns the fields of the release and its chart that templates see.
func builtins(r *release.Release) []*Leaf {
	m := r.Chart.Metadata
	return []*Leaf{
		{Path: []any{ofRelease, "Name"}, Value: r.Name, Builtin: true},
		{Path: []any{ofRelease, "Namespace"}, Value: r.Namespace, Builtin: true},
		{Path: []any{ofChart, "Version"}, Value: m.Version, Builtin: true},
		{Path: []any{ofChart, "AppVersion"}, Value: m.AppVersion, Builtin: true},
	}
}

// withBuiltin returns the release with another value of such a field.
func (t *Tracer) withBuiltin(l *Leaf) *release.Release {
	other, value := *t.Release, l.text()+"x"
	if l.Path[0] == ofRelease {
		switch l.key() {
		case "Name":
			other.Name = value
		case "Namespace":
			other.Namespace = value
		}
		return &other
	}
	c := chart.Copy(t.Release.Chart.Chart)
	switch l.key() {
	case "Version":
		c.Metadata.Version = strings.TrimSuffix(value, "x") + "+x"
	case "AppVersion":
		c.Metadata.AppVersion = value
	}
	other.Chart = t.Release.Chart.With(c)
	return &other
}

// builtinAt returns where such a field is written in the tree; ok is false if it is not.
func (t *Tracer) builtinAt(l *Leaf) (place origin.Place, ok bool) {
	if l.Path[0] == ofRelease {
		if t.ReleaseAt == nil {
			return place, false
		}
		return t.ReleaseAt(l.key())
	}
	file := t.Chart.ChartFullPath() + "/Chart.yaml"
	name, ok := t.pathOf(file)
	data, has := chart.Raw(t.Chart, file)
	if !ok || !has {
		return place, false
	}
	line, column := lineIn(tree.ParseFile(data), []any{chartField(l.key())}, 0)
	return origin.Place{Position: tree.Position{Path: name, Line: line, Column: column}, Evidence: origin.Marked}, line > 0
}
