package objects

import (
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

// historyOf returns a line for each place that wrote a field of a rendered object, in order;
// nil if there is only one place.
func historyOf(source *origin.Origin, field string) []string {
	steps := source.Chain(field, origin.Whole)
	if len(steps) < 2 {
		return nil
	}
	var out []string
	for _, s := range steps {
		line := escape.Line(s.Position.String())
		if s.Absent {
			line = "(" + line + ")"
		}
		if s.Kind != "" {
			line += "  " + string(s.Kind)
		}
		if s.Kustomization != "" {
			line += " of " + escape.Line(s.Kustomization)
		}
		if s.Component {
			line += ", a component"
		}
		out = append(out, line)
	}
	return out
}

// passed returns an object's document and the entries by which kustomizations use it, in
// order; "" for an object that no other file uses.
func passed(source *origin.Origin) string {
	entry, through := source.Kustomizations()
	if through == nil {
		return ""
	}
	places := []render.Position{source.Document()}
	for _, at := range append([]render.Position{entry}, entries(through)...) {
		if at.Line > 0 {
			places = append(places, at)
		}
	}
	if len(places) < 2 {
		return ""
	}
	var out []string
	for _, at := range places {
		at.Column = 0
		out = append(out, escape.Line(at.String()))
	}
	return strings.Join(out, outline.Arrow)
}

func entries(through []origin.Kustomization) []render.Position {
	var out []render.Position
	for _, p := range through {
		out = append(out, p.Entry)
	}
	return out
}
