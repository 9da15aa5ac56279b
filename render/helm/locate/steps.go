package locate

import (
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// Steps returns the lines of the tree that determine a field's value, in order: the template, the chart's
// default, and the value that is set; at is the field's place.
func (t *Tracer) Steps(index int, field string, part origin.Part, value any, found bool, at origin.Place) []origin.Step {
	last := origin.Step{Position: at.Position}
	if !at.Found() {
		return []origin.Step{last}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.object(index).search(field, part, value, found)
	var steps []origin.Step
	if name, ok := l.inTree(l.at); ok {
		steps = append(steps, origin.Step{Position: tree.Position{Path: name, Line: l.at.Line}, Kind: origin.StepTemplate})
		last.Kind = origin.StepTemplate
	}
	if leaf, _ := l.deciding(); leaf != nil {
		last.Kind = origin.StepValues
		if file, line, column := l.defaultOf(leaf); line > 0 && !leaf.Default && !leaf.Builtin {
			if name, ok := l.pathOf(file); ok {
				steps = append(steps, origin.Step{Position: tree.Position{Path: name, Line: line, Column: column}, Kind: origin.StepValues})
			}
		}
	}
	if n := len(steps); n > 0 && steps[n-1].Path == at.Path && steps[n-1].Line == at.Line {
		return steps
	}
	return append(steps, last)
}

// History implements origin.History for an object of a chart, with a function that returns the steps of a
// field.
type History func(field string, part origin.Part, at origin.Place) []origin.Step

// Steps implements origin.History.
func (h History) Steps(field string, part origin.Part, at origin.Place) []origin.Step {
	return h(field, part, at)
}

// RemovalStep implements origin.History.
func (h History) RemovalStep(_ string, last origin.Step) origin.Step { return last }

// Kustomizations implements origin.History: there are none.
func (h History) Kustomizations() (entry tree.Position, through []origin.Kustomization) {
	return tree.Position{}, nil
}

// DeletedBy implements origin.History: nothing deletes an object of a chart.
func (h History) DeletedBy(*tree.Tree, string) []origin.Deletion { return nil }
