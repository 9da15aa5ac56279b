package helm

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// written is where the value of a leaf is written in the tree, and what is known of that; ok is
// false for one that the tree does not have.
func (l *leaf) written(in *installed) (place origin.Place, ok bool) {
	u := in.root.Unit
	switch l.layer {
	case ofRelease:
		o, err := in.origins(u.Parent, u.Index)
		if err != nil {
			return place, false
		}
		place = o.Place(fieldOf("spec.values", l.path), origin.Whole)
		return place, place.Found()
	case ofReference:
		return l.inReference(in)
	case ofChart:
		if u.Artifact != nil {
			return place, false
		}
		files := []string{path.Join(in.root.Dir, "values.yaml")}
		if len(u.Release.ValuesFiles) > 0 {
			files = nil
			for _, name := range u.Release.ValuesFiles {
				files = append(files, path.Join(u.Checkout.Top, path.Clean("/" + name)[1:]))
			}
		}
		for _, name := range slices.Backward(files) { // the last that sets it
			data, err := in.tree.Read(in.tree.RealOr(name))
			if err != nil {
				continue
			}
			if line, column := lineOf(data, l.path); line > 0 {
				return origin.Place{Position: tree.Position{Path: name, Line: line, Column: column}, Evidence: origin.Marked}, true
			}
		}
	}
	return place, false
}

// defaultLine is the line of a value in the values.yaml of the chart; 0 when it is not there.
func (in *installed) defaultLine(of []any) (line, column int) {
	data, err := inChart(in.chart.chart.Chart, "values.yaml")
	if err != nil {
		return 0, 0
	}
	return lineOf(data, of)
}

// lineOf is where what a path leads to is written in YAML.
func lineOf(data []byte, of []any) (line, column int) {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return 0, 0
	}
	n := doc.Content[0]
	for _, step := range of {
		_, value := origin.Child(n, step)
		if value == nil {
			return 0, 0
		}
		n = value
	}
	return n.Line, n.Column
}

// inReference is where a leaf is written in a ConfigMap or Secret.
func (l *leaf) inReference(in *installed) (place origin.Place, ok bool) {
	if l.reference < 0 {
		return place, false
	}
	r := in.root.Unit.Release.References[l.reference]
	o, err := in.origins(r.Written.Root, r.Written.Index)
	if err != nil {
		return place, false
	}
	place = o.Place(r.Written.Path, origin.Whole)
	if !place.Found() || r.TargetPath != "" {
		return place, place.Found()
	}
	line, column := lineOf([]byte(r.Data), l.path)
	data, err := in.tree.Read(in.tree.RealOr(place.Path))
	if line == 0 || err != nil {
		return place, true
	}
	if bytes.Equal(bytes.TrimSpace(data), bytes.TrimSpace([]byte(r.Data))) { // a generator took the file
		place.Position = tree.Position{Path: place.Path, Line: line, Column: column}
		return place, true
	}
	lines := strings.Split(string(data), "\n")
	if place.Line < 1 || place.Line >= len(lines) || !strings.Contains(lines[place.Line-1], "|") {
		return place, true
	}
	place.Position = tree.Position{Path: place.Path, Line: place.Line + line, Column: column + origin.IndentAt(lines, place.Line+1)}
	return place, true
}

// fieldOf is a path as a field.
func fieldOf(prefix string, path []any) string {
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
