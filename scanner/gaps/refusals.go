package gaps

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/target"
)

// Refusals returns the policies given in addition to the trees that have no effect because an API
// server would not accept them. It adds a gap for refused policies of the trees that did not
// change; refused ones that changed have findings already.
func (l *Ledger) Refusals(reviewed []*target.RootReview) []RefusedPolicy {
	var given []RefusedPolicy
	seen := map[string]bool{}
	for _, r := range reviewed {
		for _, refusal := range r.Refusals {
			o := refusal.Object
			id := o.GroupVersionKind().Kind + "/" + o.Name() + "/" + refusal.Message
			from := change.OriginOf(o)
			if seen[id] || from.Side == l.Base || l.Base == nil && !from.Extra() {
				continue
			}
			seen[id] = true
			key := admission.Key{Name: o.Name()}
			if from.Extra() {
				given = append(given, RefusedPolicy{refusal, key, from.Root.RootID, report.StatusNew})
			} else if !l.IsChanged(o) {
				gap := objectGap(Policy, o, key, "an API server would not accept this, so it takes no effect here, before the change as after it: "+refusal.Message)
				gap.Policy = o.Name()
				l.Add(gap)
			}
		}
	}
	return given
}
