package explain

import (
	"fmt"

	"github.com/preadmit/preadmit/report"
)

// unbound adds a policy without a binding.
func (x *explainer) unbound(p report.ExplainedPolicy) {
	x.decided(p, "metadata.name", "policy", fmt.Sprintf("no binding has the policyName %q, so the policy takes no effect", p.Name))
}

// bindsNothing adds a binding whose policy does not exist.
func (x *explainer) bindsNothing(p report.ExplainedPolicy) {
	x.decided(p, "spec.policyName", "binding", fmt.Sprintf("there is no %s %q, so the binding takes no effect", p.Kind, p.Name))
}

// decided adds a policy that does not apply because of a field of it or of its binding.
func (x *explainer) decided(p report.ExplainedPolicy, field, of, why string) {
	p.Applies = "no"
	p.Matching = []report.ExplainedMatch{{Field: field, Of: of, Result: "no", Decides: true, Why: why}}
	x.add(&p)
}
