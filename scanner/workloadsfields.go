package scanner

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
)

// written are fields of the object a finding is about as fields of what was
// written: the workload, when it is about a generated object.
func (f *found) written(fields []string) []string {
	for _, g := range slices.Backward(f.lineage) {
		owned := []string{}
		for _, field := range fields {
			if field, ok := g.OwnerField(field); ok {
				owned = append(owned, field)
			}
		}
		fields = owned
	}
	return fields
}

// template is the field a generated object is written in as a whole; nil when the
// finding is about the workload itself.
func (f *found) template() []string {
	if f.lineage == nil {
		return nil
	}
	return f.written([]string{"spec"})
}

// locateRefusal gives the line of what the server refuses.
func (l *locator) locateRefusal(ctx context.Context, f *found) (report.Location, error) {
	if fields := f.written(f.fields); len(fields) > 0 {
		loc, place, err := l.locateFirst(ctx, f.object, fields)
		f.doubt(proof.Claim{Object: change.OriginOf(f.object).Index, Field: loc.Field, Place: place})
		return loc, err
	}
	loc, err := l.locate(ctx, f.object, f.template())
	loc.Exact = false
	return loc, err
}
