package lines

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
)

// A place that kustomize carried along with a value is exact. One that a rule found,
// or that took a field away, is when a counterfactual run confirms it: changed
// there, the object changes where the finding is about it.
const (
	// scanRenders and scanCost bound the renders of all places of a scan, by their
	// number and by their cost as render.Prover weighs it (about 5 seconds). Places for
	// which none are left stay unproven. Time is no bound, so that equal scans give
	// equal reports.
	scanRenders, scanCost = 128, 500
)

// provenField is a place of a root with the findings that are located there.
type provenField struct {
	from     change.Origin
	findings []*Finding
	// cost is that of one render, renders is the number of those allowed.
	cost, renders int
}

// Prove makes the locations of findings exact that counterfactual runs confirm.
func (l *Locator) Prove(ctx context.Context, findings []Finding) error {
	proofs := proofsOf(findings)
	costs := make([]int, len(proofs))
	for i, p := range proofs {
		costs[i] = p.cost
	}
	for i, renders := range proof.Share(costs, scanRenders, scanCost) {
		proofs[i].renders = renders
	}
	return l.work.Each(ctx, "prove", len(proofs), func(ctx context.Context, i int) error {
		l.settle(ctx, proofs[i])
		return nil
	})
}

// proofsOf returns the places in doubt, those of new findings first.
func proofsOf(findings []Finding) []*provenField {
	type place struct {
		result *render.Result
		at     render.Position
	}
	known, costs := map[place]*provenField{}, map[*render.Result]int{}
	var out []*provenField
	for _, isNew := range []bool{true, false} {
		for i := range findings {
			f := &findings[i]
			c, ok := f.doubted()
			if !ok || isNew != (f.Status == report.StatusNew) {
				continue
			}
			from := change.OriginOf(f.Subject)
			if from.Root.Kind == render.KindHelm {
				continue // its origins prove themselves: the values of a unit do not follow from one file
			}
			key := place{from.Result, c.Place.Position}
			if costs[from.Result] == 0 {
				costs[from.Result] = proof.New(from.Side.Renderer, from.Result, 0).Cost()
			}
			if known[key] == nil {
				known[key] = &provenField{from: from, cost: costs[from.Result]}
				out = append(out, known[key])
			}
			known[key].findings = append(known[key].findings, f)
		}
	}
	return out
}

// settle settles the findings of one place. Where another place is the one that
// counts, it becomes theirs.
func (l *Locator) settle(ctx context.Context, p *provenField) {
	defer p.from.Side.Begin(p.from.Root.Dir)()
	prover := proof.New(p.from.Side.Renderer, p.from.Result, p.renders)
	for _, f := range p.findings {
		claim, _ := f.doubted()
		place, settled := prover.Settle(ctx, claim)
		if settled.Outcome != proof.Confirmed {
			continue
		}
		if place != claim.Place {
			l.move(f, place)
		}
		f.Location.Exact = true
	}
}

// move locates a finding at another place of the same field.
func (l *Locator) move(f *Finding, place origin.Place) {
	loc := l.at(f.Subject, place, f.Location.Field)
	loc.Related = slices.DeleteFunc(f.Location.Related, func(other report.Location) bool { return pointsTo(&loc, other) })
	f.Location = loc
}
