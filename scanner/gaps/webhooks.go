package gaps

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/written"
	"github.com/preadmit/preadmit/scanner/target"
)

// RequestKind is a resource and operation of a scan's requests. The resource of a kind that nothing
// defines is empty.
type RequestKind struct {
	schema.GroupResource
	Operation apiserver.Operation
}

// Webhooks notes the webhook configurations in the state with rules that match a request: the
// webhooks are not called, and may change or refuse it. It returns those with failurePolicy Fail,
// sorted.
func (l *Ledger) Webhooks(requests map[RequestKind]bool, targets []*target.Target, extras []*admission.Object) []report.Webhook {
	found := map[string]bool{}
	failing := map[report.Webhook]bool{}
	calls := func(o *admission.Object) bool {
		name, hooks, ok := calledFor(o, requests)
		if !ok {
			return false
		}
		found[name] = true
		for _, w := range hooks {
			failing[w] = true
		}
		return true
	}
	untouched := l.Base != nil
	for _, t := range targets {
		for _, r := range t.Head.Roots {
			for _, o := range r.Objects {
				if calls(o) {
					untouched = untouched && !l.Touched[r.ID]
				}
			}
		}
	}
	for _, o := range extras {
		calls(o)
	}
	if len(found) == 0 {
		return nil
	}
	l.Note(report.Diagnostic{
		Severity: "note", Untouched: untouched,
		Message: "verdicts do not include what these do to a request: " + strings.Join(slices.Sorted(maps.Keys(found)), ", "),
	})
	return slices.SortedFunc(maps.Keys(failing), func(a, b report.Webhook) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Configuration, b.Configuration), cmp.Compare(a.Name, b.Name))
	})
}

// calledFor returns the name of a webhook configuration, and its webhooks that match a request and
// have failurePolicy Fail; ok is false if none matches. It ignores selectors and match conditions.
func calledFor(o *admission.Object, requests map[RequestKind]bool) (name string, failing []report.Webhook, ok bool) {
	kind := o.GroupVersionKind().GroupKind()
	if kinds.Of(kind).Effect != kinds.NotSimulated {
		return "", nil, false
	}
	name = kind.Kind + " " + o.Name()
	var read struct {
		Webhooks []struct {
			Name          string                  `json:"name"`
			FailurePolicy *v1.FailurePolicyType   `json:"failurePolicy"`
			Rules         []v1.RuleWithOperations `json:"rules"`
		} `json:"webhooks"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Content(), &read); err != nil {
		return name, nil, len(requests) > 0 // its webhooks are not known
	}
	var names []string
	for _, w := range read.Webhooks {
		if !slices.ContainsFunc(w.Rules, func(rule v1.RuleWithOperations) bool { return matchesAny(rule, requests) }) {
			continue
		}
		ok = true
		if w.FailurePolicy == nil || *w.FailurePolicy == v1.Fail {
			names = append(names, w.Name)
			failing = append(failing, report.Webhook{Kind: kind.Kind, Configuration: o.Name(), Name: w.Name})
		}
	}
	if len(names) > 0 {
		name += " (failurePolicy Fail: " + strings.Join(names, " and ") + ")"
	}
	return name, failing, ok
}

func matchesAny(rule v1.RuleWithOperations, requests map[RequestKind]bool) bool {
	for r := range requests {
		if r.Group == v1.GroupName && configuration[r.Resource] {
			continue
		}
		if written.RuleMayMatch(v1.NamedRuleWithOperations{RuleWithOperations: rule}, r.Group, r.Resource, r.Operation) {
			return true
		}
	}
	return false
}

// configuration has the resources of admissionregistration.k8s.io whose requests are sent to no webhook
// (k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules, IsExemptAdmissionConfigurationResource).
var configuration = map[string]bool{
	"validatingwebhookconfigurations": true, "mutatingwebhookconfigurations": true,
	"validatingadmissionpolicies": true, "validatingadmissionpolicybindings": true,
	"mutatingadmissionpolicies": true, "mutatingadmissionpolicybindings": true,
}
