package scanner

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/target"
)

// nameOf returns the name of a binding, empty if the policy itself is invalid.
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

// actionsOf returns the validation actions of a binding, the strongest first.
func actionsOf(actions []v1.ValidationAction) []report.Action {
	out := []report.Action{}
	for _, a := range []report.Action{report.ActionDeny, report.ActionWarn, report.ActionAudit} {
		if slices.Contains(actions, v1.ValidationAction(a)) {
			out = append(out, a)
		}
	}
	return out
}

// decision converts a decision into a finding about p, without its status.
func decision(p target.Pair, d policy.Decision, by report.PolicySet) lines.Finding {
	f := lines.Finding{Finding: report.Finding{
		Actions: actionsOf(d.Actions), Cause: report.Cause(d.Cause), Policies: by,
		Policy: d.Policy.Name, Binding: nameOf(d.Binding), Param: paramOf(d), Expression: d.Expression,
		Message: cmp.Or(d.Redacted, d.Message), Reason: string(d.Reason), Operation: string(p.Operation()),
	}, Subject: p.Object(), Key: p.Key, Decider: d.Policy.Source, Input: d.Input}
	if len(f.Actions) > 0 {
		f.Action = f.Actions[0]
	}
	if d.Validation >= 0 {
		f.Validation = new(d.Validation)
	}
	return f
}

// governing returns the objects that led to a decision: the policy, its binding, its param, the
// object that names another user than before and, if the policy reads it, the object's Namespace.
func (r *review) governing(d policy.Decision) []*admission.Object {
	all := []*admission.Object{d.Policy.Source}
	if d.Binding != nil {
		all = append(all, d.Binding.Source)
	}
	if d.Param != nil {
		all = append(all, d.Param)
	}
	if r.OtherUser && r.Deployer != nil {
		all = append(all, r.Deployer)
	}
	if !r.Reach.NamespacePolicies[d.Policy.Name] {
		return all
	}
	cluster := r.Proposed.Cluster()
	if namespaces, ok := cluster.Resource(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}); ok {
		if o := cluster.Find(namespaces, "", r.Key.Namespace); o != nil {
			all = append(all, o)
		}
	}
	return all
}
