package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/locate"
)

// maxRelated is the maximum number of related lines of a finding.
const maxRelated = 8

// cause is a field that decides a failed validation.
type cause struct {
	// field is the path in the object as written, judged the path in the object as judged.
	field, judged string
	// part is the part of the value that decides.
	part origin.Part
}

// fieldsOf finds the fields of the object that decide a failed validation, the most relevant first.
// lists is set if one of them is a list, or a map that a patch may have emptied: the reason for
// such a value is only visible in the validation's input.
func (l *Locator) fieldsOf(f *Finding) (lists bool, err error) {
	finder, err := l.finder()
	if err != nil {
		return false, fmt.Errorf("find the fields of an expression: %w", err)
	}
	q := f.question()
	for _, judged := range finder.Fields(q) {
		for _, field := range f.written([]string{judged}) {
			t := cause{field: field, judged: judged}
			if isMade(f.Subject, field) {
				t.part = finder.Part(q, judged)
			}
			lists = lists || locate.IsList(q, judged) || change.OriginOf(f.Subject).Root.Kind != render.KindPlain && locate.IsEmpty(q, judged)
			f.causes = append(f.causes, t)
		}
	}
	// A field of a manifest can be changed there; one that a policy writes cannot.
	slices.SortStableFunc(f.causes, func(a, b cause) int { return cmp.Compare(f.mutation(a.field), f.mutation(b.field)) })
	return lists, nil
}

// isMade reports whether several lines may contribute to the value of a field.
func isMade(o *admission.Object, field string) bool {
	if change.OriginOf(o).Root.Kind == render.KindPlain {
		return false
	}
	return strings.HasSuffix(field, ".image") || strings.HasSuffix(field, ".name")
}

// FindFields finds the fields that decide failed validations and releases the validations' inputs,
// which are large.
func (l *Locator) FindFields(findings []Finding) {
	for i := range findings {
		if f := &findings[i]; f.Input != nil {
			lists := false
			lists, f.fieldsErr = l.fieldsOf(f)
			f.searched = true
			if !lists {
				f.Input = nil
			}
		}
		findings[i].settle()
	}
}

// locateValidation returns the line of the most relevant field that the change wrote, or else of
// the most relevant field or its nearest ancestor, with the lines of the other fields as related.
func (l *Locator) locateValidation(ctx context.Context, f *Finding) (report.Location, error) {
	defer func() { f.Input = nil }()
	if f.fieldsErr != nil || len(f.causes) == 0 {
		loc, err := l.Place(ctx, f.Subject, f.template())
		loc.Exact = false
		l.governed(ctx, f, &loc)
		return loc, errors.Join(f.fieldsErr, err)
	}
	source, err := l.source(ctx, f.Subject)
	if err != nil {
		return l.Place(ctx, f.Subject, nil)
	}
	all := []report.Location{}
	for _, t := range f.causes {
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

func (l *Locator) fieldLocation(f *Finding, source *origin.Origin, c cause) report.Location {
	claim := proof.Claim{Object: change.OriginOf(f.Subject).Index, Field: c.field, Part: c.part, Place: source.Place(c.field, c.part)}
	if r, ok := l.takenOut(f, source, c); ok {
		claim.Place, claim.Element = origin.Place{Position: r.Position, Evidence: origin.Removed}, r.Element
	}
	claim.Place = l.preferWritten(f, claim.Place)
	f.addUnproven(claim)
	loc := l.at(f.Subject, claim.Place, c.field)
	loc.Exact = loc.Exact && f.mutation(c.field) == 0
	return loc
}

// takenOut returns the removal by a patch of a list element or map entry that the validation
// requires.
func (l *Locator) takenOut(f *Finding, source *origin.Origin, c cause) (origin.Removal, bool) {
	if f.Input == nil {
		return origin.Removal{}, false
	}
	finder, err := l.finder()
	if err != nil {
		return origin.Removal{}, false
	}
	for _, r := range source.Removals(c.field) {
		if finder.Lacks(f.question(), c.judged, r.Element) {
			return r, true
		}
	}
	return origin.Removal{}, false
}

// pointsTo reports whether a location, or one of its related locations, is on the line of another.
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
