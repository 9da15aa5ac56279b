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

// Document is the location of an object, or why that is not known.
type Document struct {
	Location  report.Location
	Unlocated error
}

// Locate finds the lines of findings and remarks, and adds to findings the chains of the values there. It locates the
// findings of one root in their order: the work for all fields of a chart is limited, and the result must not depend
// on which finding comes first. It returns the locations of the other objects, in their order.
func (l *Locator) Locate(ctx context.Context, findings, remarks []Finding, objects []*admission.Object) ([]Document, error) {
	documents := make([]Document, len(objects))
	roots := rootsOf(findings, remarks, objects)
	err := l.work.Each(ctx, "locate", len(roots), func(ctx context.Context, i int) error {
		of := roots[i]
		for _, n := range of.objects {
			documents[n].Location, documents[n].Unlocated = l.Place(ctx, objects[n], nil)
		}
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
	return documents, err
}

// locatedRoot has the findings and remarks about the objects of a root, and the indexes of other objects.
type locatedRoot struct {
	// subject is one of the objects; nil for findings about no root.
	subject           *admission.Object
	findings, remarks []*Finding
	objects           []int
}

// rootsOf returns the roots of findings, remarks and objects.
func rootsOf(findings, remarks []Finding, objects []*admission.Object) (roots []*locatedRoot) {
	known := map[*render.Result]*locatedRoot{}
	of := func(o *admission.Object) *locatedRoot {
		var result *render.Result
		if o != nil {
			result = change.OriginOf(o).Result
		}
		if known[result] == nil {
			known[result] = &locatedRoot{subject: o}
			roots = append(roots, known[result])
		}
		return known[result]
	}
	for i := range findings {
		root := of(findings[i].Subject)
		root.findings = append(root.findings, &findings[i])
	}
	for i := range remarks {
		root := of(remarks[i].Subject)
		root.remarks = append(root.remarks, &remarks[i])
	}
	for i, o := range objects {
		root := of(o)
		root.objects = append(root.objects, i)
	}
	return roots
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

// locateRefusal returns the line of the field that the server refuses.
func (l *Locator) locateRefusal(ctx context.Context, f *Finding) (report.Location, error) {
	if fields := f.writtenFields(); len(fields) > 0 {
		loc, place, err := l.locateFirst(ctx, f.Subject, fields)
		if written := l.preferWritten(f, place); written.Position != place.Position {
			loc, place = l.at(f.Subject, written, loc.Field), written
		}
		f.addUnproven(proof.Claim{Object: change.OriginOf(f.Subject).Index, Field: loc.Field, Place: place})
		loc.Exact = loc.Exact && f.mutation(loc.Field) == 0
		return loc, err
	}
	loc, err := l.Place(ctx, f.Subject, f.template())
	loc.Exact = false
	return loc, err
}

// definition returns the location of a finding's policy; nil if there is no policy or its location is not known.
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
