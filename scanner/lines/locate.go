package lines

import (
	"context"
	"fmt"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
)

// Locate finds the lines of findings.
func (l *Locator) Locate(ctx context.Context, findings []Finding) error {
	return l.work.Each(ctx, "locate", len(findings), func(ctx context.Context, i int) error {
		l.locateFinding(ctx, &findings[i])
		return nil
	})
}

// locateFinding locates a finding about an object and adds the lines around it.
func (l *Locator) locateFinding(ctx context.Context, f *Finding) {
	if f.Located {
		l.addSnippet(&f.Location, l.change.Head, f.Location.Path, false)
		return
	}
	f.Object = change.ObjectOf(f.Subject, f.Key)
	f.Definition = l.definition(ctx, f)
	if f.searched {
		f.Location, f.Unlocated = l.locateValidation(ctx, f)
	} else {
		f.Location, f.Unlocated = l.locateRefusal(ctx, f)
	}
}

// locateRefusal returns the line of what the server refuses.
func (l *Locator) locateRefusal(ctx context.Context, f *Finding) (report.Location, error) {
	if fields := f.writtenFields(); len(fields) > 0 {
		loc, place, err := l.locateFirst(ctx, f.Subject, fields)
		f.doubt(proof.Claim{Object: change.OriginOf(f.Subject).Index, Field: loc.Field, Place: place})
		loc.Exact = loc.Exact && f.mutation(loc.Field) == 0
		return loc, err
	}
	loc, err := l.Place(ctx, f.Subject, f.template())
	loc.Exact = false
	return loc, err
}

// definition is where the policy of a finding is written; nil when there is none, or it
// is not known where.
func (l *Locator) definition(ctx context.Context, f *Finding) *report.Definition {
	if f.Decider == nil {
		return nil
	}
	source, err := l.source(ctx, f.Decider)
	if err != nil {
		return nil
	}
	at := source.Document()
	if f.Validation != nil {
		at = source.Place(fmt.Sprintf("spec.validations[%d].expression", *f.Validation), origin.Whole).Position
	}
	return &report.Definition{Path: change.OriginOf(f.Decider).Side.Path(at.Path), StartLine: at.Line}
}
