package gaps

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/target"
)

// Refusals returns policies that take no effect on what was reviewed because an API
// server would not accept them, where they are no findings of their own: those given
// beside the trees. Those that did not change are added to the ledger.
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
