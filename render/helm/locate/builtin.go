package locate

import (
	"maps"
	"slices"
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
	var all []*Leaf
	add := func(value string, path ...any) { all = append(all, &Leaf{Path: path, Value: value, Builtin: true}) }
	add(r.Name, ofRelease, "Name")
	add(r.Namespace, ofRelease, "Namespace")
	add(m.Version, ofChart, "Version")
	add(m.AppVersion, ofChart, "AppVersion")
	add(m.Description, ofChart, "Description")
	add(m.Home, ofChart, "Home")
	for _, key := range slices.Sorted(maps.Keys(m.Annotations)) {
		add(m.Annotations[key], ofChart, "Annotations", key)
	}
	for i, keyword := range m.Keywords {
		add(keyword, ofChart, "Keywords", i)
	}
	return all
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
	switch m := c.Metadata; l.Path[1] {
	case "Version":
		m.Version = strings.TrimSuffix(value, "x") + "+x"
	case "AppVersion":
		m.AppVersion = value
	case "Description":
		m.Description = value
	case "Home":
		m.Home = value
	case "Annotations":
		m.Annotations = maps.Clone(m.Annotations)
		m.Annotations[l.key()] = value
	case "Keywords":
		m.Keywords = slices.Clone(m.Keywords)
		m.Keywords[l.Path[2].(int)] = value
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
	if !ok {
		return place, false
	}
	line, column := lineIn(t.parsed(file), append([]any{chartField(l.Path[1].(string))}, l.Path[2:]...), 0)
	return origin.Place{Position: tree.Position{Path: name, Line: line, Column: column}, Evidence: origin.Marked}, line > 0
}
