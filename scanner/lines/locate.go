package lines

import (
	"context"
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// Locate finds the lines of findings and of remarks, and says of findings what led to the values there. Those of one
// root are located in their order: how much is tried for all fields of a chart is bounded, and must not depend on which
// finding comes first.
func (l *Locator) Locate(ctx context.Context, findings, remarks []Finding) error {
	roots := rootsOf(findings, remarks)
	return l.work.Each(ctx, "locate", len(roots), func(ctx context.Context, i int) error {
		of := roots[i]
		for _, f := range slices.Concat(of.findings, of.remarks) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			l.locateFinding(ctx, f)
		}
		for _, f := range of.findings {
			l.explain(ctx, f)
		}
		if of.subject != nil {
			l.forget(of.subject)
		}
		return nil
	})
}

// locatedRoot are the findings and remarks about the objects of a root.
type locatedRoot struct {
	// subject is one of the objects; nil for what is beside the roots.
	subject           *admission.Object
	findings, remarks []*Finding
}

// rootsOf returns the roots of findings and remarks.
func rootsOf(findings, remarks []Finding) (roots []*locatedRoot) {
	known := map[*render.Result]*locatedRoot{}
	of := func(f *Finding) *locatedRoot {
		result := f.rendered()
		if known[result] == nil {
			known[result] = &locatedRoot{subject: f.Subject}
			roots = append(roots, known[result])
		}
		return known[result]
	}
	for i := range findings {
		root := of(&findings[i])
		root.findings = append(root.findings, &findings[i])
	}
	for i := range remarks {
		root := of(&remarks[i])
		root.remarks = append(root.remarks, &remarks[i])
	}
	return roots
}

// rendered is what the root of a finding's subject renders to; nil for what is beside the roots.
func (f *Finding) rendered() *render.Result {
	if f.Subject == nil {
		return nil
	}
	return change.OriginOf(f.Subject).Result
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
