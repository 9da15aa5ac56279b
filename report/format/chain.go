package format

import (
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
)

// arrow stands between the places that wrote a field, one after the other.
const arrow = " -> "

// chain is the history of an entry's field: `base/web.yaml:14 -> prod/patch.yaml:7`.
// A line in parentheses does not have the field itself. It is empty where there is only
// one place, and where requests of the entry came another way.
func (p *printer) chain(e *entry) string {
	var places []string
	for _, step := range e.sharedChain() {
		text := escape(step.Path)
		if step.StartLine > 0 {
			text += ":" + strconv.Itoa(step.StartLine)
		}
		if step.Absent {
			text = "(" + text + ")"
		}
		if kind := escape(step.Kind); kind != "" && p.opts.Verbose {
			text += " " + kind
		}
		places = append(places, text)
	}
	return strings.Join(places, arrow)
}

// sharedChain is the history of an entry's field, if all of its requests have the same.
func (e *entry) sharedChain() []report.ChainStep {
	for _, f := range e.also {
		if !slices.Equal(f.Location.Chain, e.Location.Chain) {
			return nil
		}
	}
	return e.Location.Chain
}

// historyOf tells, in lines, what wrote a field of a rendered object one after the
// other; nothing when it was one place only.
func historyOf(source *origin.Origin, field string) []string {
	steps := source.Chain(field, origin.Whole)
	if len(steps) < 2 {
		return nil
	}
	var out []string
	for _, s := range steps {
		line := Line(s.Position.String())
		if s.Absent {
			line = "(" + line + ")"
		}
		if s.Kind != "" {
			line += "  " + string(s.Kind)
		}
		if s.Kustomization != "" {
			line += " of " + Line(s.Kustomization)
		}
		if s.Component {
			line += ", a component"
		}
		out = append(out, line)
	}
	return out
}

// passed is an object's document and the entries by which one kustomization after
// the other uses it; empty for an object that no other file uses.
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
		out = append(out, Line(at.String()))
	}
	return strings.Join(out, arrow)
}

func entries(through []origin.Kustomization) []render.Position {
	var out []render.Position
	for _, p := range through {
		out = append(out, p.Entry)
	}
	return out
}
