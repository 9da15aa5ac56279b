package explain

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/policy"
)

// masked returns the expressions of a policy. If they read a Secret, it masks values that differ
// when the Secret has other content.
func masked(w *policy.Watch) []report.ExplainedExpression {
	all := expressions(w)
	if w.Sealed == nil {
		return all
	}
	sealed := expressions(w.Sealed)
	for i := range all {
		if i >= len(sealed) {
			hide(&all[i].Value, &all[i].Why)
			all[i].Parts = nil
			continue
		}
		compare(&all[i].Value, &all[i].Why, sealed[i].Value, sealed[i].Why)
		maskParts(all[i].Parts, sealed[i].Parts)
	}
	return all
}

// compare masks a value and its explanation if the other differs.
func compare(value, why *string, otherValue, otherWhy string) {
	if *value != otherValue || *why != otherWhy {
		hide(value, why)
	}
}

func hide(value, why *string) {
	if *value != "" {
		*value = policy.Masked
	}
	if *why != "" {
		*why = policy.Masked
	}
}

func maskParts(parts, sealed []report.ExplainedPart) {
	for i := range parts {
		p, other := &parts[i], report.ExplainedPart{}
		if i < len(sealed) {
			other = sealed[i]
		}
		compare(&p.Value, &p.Why, other.Value, other.Why)
		maskParts(p.Parts, other.Parts)
		for j := range p.Rounds {
			r, round := &p.Rounds[j], report.ExplainedRound{}
			for k := range other.Rounds {
				if other.Rounds[k].Index == r.Index {
					round = other.Rounds[k]
				}
			}
			for k := range r.Bound {
				if k >= len(round.Bound) || round.Bound[k].Value != r.Bound[k].Value {
					r.Bound[k].Value = policy.Masked
				}
			}
			maskParts(r.Parts, round.Parts)
		}
	}
}
