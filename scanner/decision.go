package scanner

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// nameOf is a binding's name, empty where the policy itself is at fault.
func nameOf(b *policy.Binding) string {
	if b == nil {
		return ""
	}
	return b.Name
}

func paramOf(d policy.Decision) *report.ParamRef {
	if d.Param == nil {
		return nil
	}
	return &report.ParamRef{Namespace: d.Param.Namespace(), Name: d.Param.Name()}
}

// rule is what a finding's status is about: one validation of one policy,
// whatever binding, param, action or message.
type rule struct {
	policy     string
	validation int
}

func ruleOf(d policy.Decision) rule { return rule{d.Policy.Name, d.Validation} }

func rulesOf(decisions []policy.Decision) map[rule]bool {
	rules := map[rule]bool{}
	for _, d := range decisions {
		rules[ruleOf(d)] = true
	}
	return rules
}

// actionsOf are a binding's validation actions, the strongest first.
func actionsOf(actions []v1.ValidationAction) []report.Action {
	out := []report.Action{}
	for _, a := range []report.Action{report.ActionDeny, report.ActionWarn, report.ActionAudit} {
		if slices.Contains(actions, v1.ValidationAction(a)) {
			out = append(out, a)
		}
	}
	return out
}

// decided turns a decision into a finding about p, still without its status.
func (p pair) decided(d policy.Decision, by report.PolicySet) found {
	f := found{Finding: report.Finding{
		Actions: actionsOf(d.Actions), Cause: report.Cause(d.Cause), Policies: by,
		Policy: d.Policy.Name, Binding: nameOf(d.Binding), Param: paramOf(d), Expression: d.Expression,
		Message: cmp.Or(d.Told, d.Message), Reason: string(d.Reason), Operation: string(p.operation()),
	}, object: p.object(), key: p.key, policy: d.Policy.Source}
	if len(f.Actions) > 0 {
		f.Action = f.Actions[0]
	}
	if d.Validation >= 0 {
		f.Validation, f.input = ptr(d.Validation), d.Input
	}
	return f
}

// found is a finding with what it takes to locate it.
type found struct {
	report.Finding
	// object is what is judged, in the tree of the finding.
	object *admission.Object
	key    admission.Key
	// fields are paths of the fields at fault, the most telling first.
	fields []string
	// input is what a failed validation was evaluated on: it tells the fields.
	input *policy.Input
	// turns: turnings, which may be none, are what a validation turns on.
	turns    bool
	turnings []turning
	// policy is the one that made the decision.
	policy *admission.Object
	// governing are the objects that made the decision, when the judged one did not
	// change.
	governing []*admission.Object
	// fieldsErr is why they could not be found.
	fieldsErr error
	// lineage are the generated objects from the workload's own down to the one the
	// finding is about; fields and input are those of the last.
	lineage []*admission.Generated
	// located is set when Location is final but for its snippet.
	located bool
	// doubts are claims about the object that need proof (see prove).
	doubts []proof.Claim
}

// unjudged is an Indeterminate about an object that is still to be located.
type unjudged struct {
	report.Indeterminate
	object *admission.Object
	key    admission.Key
}
