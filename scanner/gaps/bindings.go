package gaps

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/policy/written"
	"github.com/preadmit/preadmit/scanner/target"
)

// Bindings returns warnings about bindings to policies that do not exist: the API server accepts
// them, and they have no effect. It omits bindings that had no effect at base either.
func Bindings(targets []*target.Target) []lines.Finding {
	var warnings []lines.Finding
	for _, t := range targets {
		for _, o := range t.Head.IdleBindings() {
			if t.Base != nil && t.Base.IsIdle(t.Base.Cluster.Key(o)) {
				continue
			}
			warnings = append(warnings, lines.Finding{
				Finding: report.Finding{
					Root:    change.OriginOf(o).Root.String(),
					Message: "it binds the policy " + written.BoundPolicy(o) + ", which nothing that was rendered defines, so it has no effect",
				},
				Subject: o, Key: t.Head.Cluster.Key(o), Fields: []string{"spec.policyName"},
			})
		}
	}
	return warnings
}
