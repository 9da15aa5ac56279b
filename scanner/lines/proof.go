package lines

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
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
			from, c, ok := f.toProve()
			if !ok || isNew != (f.Status == report.StatusNew) {
				continue
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

// toProve is the claim that the location of a finding rests on, if it needs proof, and the root that it is about. Origins
// of a HelmRelease prove what decides in it themselves; what wrote that is a claim about the root that makes it.
func (f *Finding) toProve() (from change.Origin, c proof.Claim, ok bool) {
	if c, ok = f.doubted(); !ok {
		return from, c, false
	}
	if from = change.OriginOf(f.Subject); from.Root.Kind != render.KindHelm {
		return from, c, true
	}
	u := from.Root.Unit
	result := from.Side.Expanded(u.Parent)
	if c.Place.Via == "" || result == nil {
		return from, c, false
	}
	from.Root, from.Result, from.Index = result.Root, result, u.Index
	return from, proof.Claim{Object: u.Index, Field: c.Place.Via, Place: origin.Place{Position: c.Place.Position, Evidence: c.Place.Evidence}}, true
}

// settle settles the findings of one place. Where another place is the one that
// counts, it becomes theirs.
func (l *Locator) settle(ctx context.Context, p *provenField) {
	claims := make([]proof.Claim, len(p.findings))
	for i, f := range p.findings {
		_, claims[i], _ = f.toProve()
	}
	for i, s := range l.settled(ctx, p, claims) {
		if s.Moved {
			l.move(p.findings[i], s.Place)
			l.addChain(ctx, p.findings[i])
		}
		if s.Confirmed {
			p.findings[i].Location.Exact = true
		}
	}
}

// settled is what became of a claim.
type settled struct {
	Confirmed bool
	// Moved is set when Place, and not that of the claim, is confirmed.
	Moved bool
	Place origin.Place
}

// settled settles claims about one root, unless another process did that.
func (l *Locator) settled(ctx context.Context, p *provenField, claims []proof.Claim) (all []settled) {
	root, name := l.identity(p.from), ""
	if root != "" {
		name = nameOf(claims, p.renders)
	}
	if name != "" && l.answers.Noted(root, name, &all) && len(all) == len(claims) {
		return all
	}
	all = nil // nothing of what could not be read
	defer p.from.Side.Begin(p.from.Root.Dir)()
	prover := proof.New(p.from.Side.Renderer, p.from.Result, p.renders)
	for _, c := range claims {
		place, found := prover.Settle(ctx, c)
		s := settled{Confirmed: found.Outcome == proof.Confirmed}
		if s.Moved = s.Confirmed && place.Position != c.Place.Position; s.Moved {
			s.Place = place
		}
		all = append(all, s)
	}
	if name != "" {
		l.answers.Note(root, name, all)
	}
	return all
}

// nameOf names claims that are settled with so many renders; empty where they hold values of any type.
func nameOf(claims []proof.Claim, renders int) string {
	var name bytes.Buffer
	if slices.ContainsFunc(claims, func(c proof.Claim) bool { return c.Element != nil }) || gob.NewEncoder(&name).Encode(claims) != nil {
		return ""
	}
	return fmt.Sprintf("proof %d %s", renders, name.Bytes())
}

// move locates a finding at another place of the same field.
func (l *Locator) move(f *Finding, place origin.Place) {
	loc := l.at(f.Subject, place, f.Location.Field)
	loc.Related = slices.DeleteFunc(f.Location.Related, func(other report.Location) bool { return pointsTo(&loc, other) })
	f.Location = loc
}
