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

// A place that kustomize kept with a value is exact. A place that a rule found, or of a removed field, is exact if a
// counterfactual run confirms it: with a change there, the field of the finding changes in the rendered object.
const (
	// scanRenders and scanCost limit the renders for all places of a scan, by number and by cost as render.Prover
	// weighs it (about 5 seconds). Places beyond the limits stay unproven. Time is not limited, so that equal scans
	// give equal reports.
	scanRenders, scanCost = 128, 500
)

// provenField is a place of a root with the findings located there.
type provenField struct {
	from     change.Origin
	findings []*Finding
	// cost is the cost of one render, renders the number of allowed renders.
	cost, renders int
}

// Prove marks locations of findings as exact if counterfactual runs confirm them.
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

// proofsOf returns the places to prove, those of new findings first.
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

// toProve returns the claim on which the location of a finding depends, if it needs proof, and its root. The origins
// of a HelmRelease are already proven within the release; what remains is a claim about the root that renders the
// HelmRelease.
func (f *Finding) toProve() (from change.Origin, c proof.Claim, ok bool) {
	if c, ok = f.unprovenClaim(); !ok {
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

// settle proves the findings of one place, and moves those for which another place is confirmed.
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

// settled is the outcome of a claim.
type settled struct {
	Confirmed bool
	// Moved is set if Place is confirmed instead of the place of the claim.
	Moved bool
	Place origin.Place
}

// settled proves claims about one root, unless the shared cache has the outcomes.
func (l *Locator) settled(ctx context.Context, p *provenField, claims []proof.Claim) (all []settled) {
	root, name := l.identity(p.from), ""
	if root != "" {
		name = nameOf(claims, p.renders)
	}
	if name != "" && l.answers.Noted(root, name, &all) && len(all) == len(claims) {
		return all
	}
	all = nil // discard what was read incompletely
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

// nameOf returns the cache key of claims and their number of renders; empty if a claim has an Element, which can be
// of any type.
func nameOf(claims []proof.Claim, renders int) string {
	var name bytes.Buffer
	if slices.ContainsFunc(claims, func(c proof.Claim) bool { return c.Element != nil }) || gob.NewEncoder(&name).Encode(claims) != nil {
		return ""
	}
	return fmt.Sprintf("proof %d %s", renders, name.Bytes())
}

// move changes the location of a finding to another place of the same field.
func (l *Locator) move(f *Finding, place origin.Place) {
	loc := l.at(f.Subject, place, f.Location.Field)
	loc.Related = slices.DeleteFunc(f.Location.Related, func(other report.Location) bool { return pointsTo(&loc, other) })
	f.Location = loc
}
