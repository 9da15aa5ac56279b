package scanner

import (
	"context"
	"errors"
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/locate"
)

// maxRelated is the number of other lines told of a finding.
const maxRelated = 8

// fieldsOf are the fields of the object that a failed validation turns on, the
// most telling first.
func (l *locator) fieldsOf(f *found) ([]string, error) {
	finder, err := l.finder()
	if err != nil {
		return nil, fmt.Errorf("find the fields of an expression: %w", err)
	}
	in := f.input
	q := locate.Question{
		Expression: f.Expression, Variables: map[string]string{},
		Object: in.Object, OldObject: in.OldObject,
		Params: in.Params, Request: in.Request, Namespace: in.Namespace,
	}
	for _, v := range in.Variables {
		q.Variables[v.Name] = v.Expression
	}
	return f.written(finder.Fields(q)), nil
}

// findFields finds the fields that failed validations turn on and lets go of what
// they were evaluated on, which is large.
func (l *locator) findFields(findings []found) {
	for i := range findings {
		if f := &findings[i]; f.input != nil {
			f.fields, f.fieldsErr = l.fieldsOf(f)
			f.input, f.turns = nil, true
		}
	}
}

// locateValidation gives the line of the most telling field, or of what is nearest
// to it when it is absent, and as related the lines of the others.
func (l *locator) locateValidation(ctx context.Context, f *found) (Location, error) {
	if f.fieldsErr != nil || len(f.fields) == 0 {
		loc, err := l.locate(ctx, f.object, f.template())
		loc.Exact = false
		return loc, errors.Join(f.fieldsErr, err)
	}
	source, err := l.source(ctx, f.object)
	if err != nil {
		return l.locate(ctx, f.object, nil)
	}
	loc := l.fieldLocation(f.object, source, f.fields[0])
	for _, field := range f.fields[1:] {
		other := l.fieldLocation(f.object, source, field)
		if len(loc.Related) < maxRelated && !loc.tells(other) {
			other.Message = "depends on " + field + " too"
			loc.Related = append(loc.Related, other)
		}
	}
	return loc, nil
}

func (l *locator) fieldLocation(o *admission.Object, source *render.Source, field string) Location {
	from := originOf(o)
	pos, _ := source.Find(field)
	loc := locationOf(pos, from.side.treeName())
	loc.Path, loc.Field = from.side.location(pos.Path), field
	l.addSnippet(&loc, from.side, pos.Path, isSecret(o))
	return loc
}

// tells reports whether a location or a related one is on the line of another.
func (l *Location) tells(other Location) bool {
	same := func(a *Location) bool {
		return a.Path == other.Path && a.Tree == other.Tree && a.StartLine == other.StartLine
	}
	if same(l) {
		return true
	}
	for i := range l.Related {
		if same(&l.Related[i]) {
			return true
		}
	}
	return false
}
