package scanner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/locate"
)

// maxRelated is the number of other lines told of a finding.
const maxRelated = 8

// question is a failed validation with what it was evaluated on.
func (f *found) question() locate.Question {
	in := f.input
	q := locate.Question{
		Expression: f.Expression, Variables: map[string]string{},
		Object: in.Object, OldObject: in.OldObject,
		Params: in.Params, Request: in.Request, Namespace: in.Namespace,
	}
	for _, v := range in.Variables {
		q.Variables[v.Name] = v.Expression
	}
	return q
}

// turning is a field that a validation turns on.
type turning struct {
	// field is a path in what was written, judged one in the object that was judged.
	field, judged string
	// part is the part of its value at fault.
	part origin.Part
}

// fieldsOf finds the fields of the object that a failed validation turns on, the
// most telling first. lists is set when one of them is a list, of which only those
// can tell why it is what it is who know what it was evaluated on.
func (l *locator) fieldsOf(f *found) (lists bool, err error) {
	finder, err := l.finder()
	if err != nil {
		return false, fmt.Errorf("find the fields of an expression: %w", err)
	}
	q := f.question()
	for _, judged := range finder.Fields(q) {
		for _, field := range f.written([]string{judged}) {
			t := turning{field: field, judged: judged}
			if isMade(f.object, field) {
				t.part = finder.Part(q, judged)
			}
			lists = lists || locate.IsList(q, judged)
			f.turnings = append(f.turnings, t)
		}
	}
	return lists, nil
}

// isMade tells whether several lines may make the value of a field.
func isMade(o *admission.Object, field string) bool {
	return change.OriginOf(o).Root.Kind == render.KindKustomize &&
		(strings.HasSuffix(field, ".image") || strings.HasSuffix(field, ".name"))
}

// findFields finds the fields that failed validations turn on and lets go of what
// they were evaluated on, which is large.
func (l *locator) findFields(findings []found) {
	for i := range findings {
		if f := &findings[i]; f.input != nil {
			lists := false
			lists, f.fieldsErr = l.fieldsOf(f)
			f.turns = true
			if !lists {
				f.input = nil
			}
		}
	}
}

// locateValidation gives the line of the most telling field that the change wrote,
// else of the most telling one, or of what is nearest to it when it is absent, and
// as related the lines of the others.
func (l *locator) locateValidation(ctx context.Context, f *found) (report.Location, error) {
	defer func() { f.input = nil }()
	if f.fieldsErr != nil || len(f.turnings) == 0 {
		loc, err := l.locate(ctx, f.object, f.template())
		loc.Exact = false
		l.governed(ctx, f, &loc)
		return loc, errors.Join(f.fieldsErr, err)
	}
	source, err := l.source(ctx, f.object)
	if err != nil {
		return l.locate(ctx, f.object, nil)
	}
	all := []report.Location{}
	for _, t := range f.turnings {
		all = append(all, l.fieldLocation(f, source, t))
	}
	l.preferChanged(f, all)
	loc := all[0]
	for _, other := range all[1:] {
		if len(loc.Related) < maxRelated && !pointsTo(&loc, other) {
			other.Message = "depends on " + other.Field + " too"
			loc.Related = append(loc.Related, other)
		}
	}
	l.governed(ctx, f, &loc)
	return loc, nil
}

func (l *locator) fieldLocation(f *found, source *origin.Origin, t turning) report.Location {
	claim := proof.Claim{Object: change.OriginOf(f.object).Index, Field: t.field, Part: t.part, Place: source.Place(t.field, t.part)}
	if r, ok := l.takenOut(f, source, t); ok {
		claim.Place, claim.Element = origin.Place{Position: r.Position, Evidence: origin.Removed}, r.Element
	}
	f.doubt(claim)
	return l.at(f.object, claim.Place, t.field)
}

// takenOut is what a patch took out of a list that a validation wants there.
func (l *locator) takenOut(f *found, source *origin.Origin, t turning) (origin.Removal, bool) {
	if f.input == nil {
		return origin.Removal{}, false
	}
	finder, err := l.finder()
	if err != nil {
		return origin.Removal{}, false
	}
	for _, r := range source.Removals(t.field) {
		if finder.Lacks(f.question(), t.judged, r.Element) {
			return r, true
		}
	}
	return origin.Removal{}, false
}

// pointsTo reports whether a location or a related one is on the line of another.
func pointsTo(l *report.Location, other report.Location) bool {
	same := func(a *report.Location) bool {
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
