package scanner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

const policyAndObject = `
-- policies/p.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]
  validations:
  - {expression: "params == null || object.spec.replicas <= int(params.data.max)", message: max}
-- policies/b.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p
  validationActions: [Warn]
  paramRef: {selector: {}, namespace: limits, parameterNotFoundAction: Deny}
-- limits/l.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: five, namespace: limits}, data: {max: "5"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: ten, namespace: limits}, data: {max: "10"}}
-- app/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {v: "1"}}
spec:
  replicas: 7
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
`

// TestExisting checks which findings are existing: those with a finding at base for the same
// validation of the same policy, with the same param and an action at least as strong.
func TestExisting(t *testing.T) {
	const same, changed = `{v: "1"}`, `{v: "2"}`
	rule := func(expression, message string) string {
		return fmt.Sprintf("\n  - {expression: %q, message: %s}", expression, message)
	}
	limit := rule("params == null || object.spec.replicas <= int(params.data.max)", "max")
	tests := map[string]struct {
		// base and head are replacements in policyAndObject.
		base, head []string
		want       []string
	}{
		"a Warn": {head: []string{same, changed}, want: []string{"existing Warn max five"}},
		"a Warn that becomes a Deny": {
			head: []string{same, changed, "[Warn]", "[Deny]"},
			want: []string{"existing Warn max five", "new Deny max five"},
		},
		"a Warn that becomes a Deny over an object that does not change": {
			head: []string{"[Warn]", "[Deny]"},
			want: []string{"new Deny max five"},
		},
		"an Audit that becomes a Warn": {
			base: []string{"[Warn]", "[Audit]"},
			want: []string{"new Warn max five"},
		},
		"an Audit beside a Warn that becomes a Deny": {
			base: []string{"[Warn]", "[Audit, Warn]"}, head: []string{"[Warn]", "[Deny]"},
			want: []string{"new Deny max five"},
		},
		"a Deny that becomes a Warn": {
			base: []string{"[Warn]", "[Deny]"},
			want: []string{"existing Warn max five"},
		},
		"a further param": {
			head: []string{same, changed, "replicas: 7", "replicas: 20"},
			want: []string{"existing Warn max five", "new Warn max ten"},
		},
		"a param that is tightened": {
			head: []string{`"5"`, `"6"`, `"10"`, `"3"`},
			want: []string{"existing Warn max five", "new Warn max ten"},
		},
		"one param less": {
			base: []string{"replicas: 7", "replicas: 20"},
			want: []string{"existing Warn max five", "resolved Warn max ten"},
		},
		"another param": {
			head: []string{"name: five", "name: three"},
			want: []string{"new Warn max three"},
		},
		"a validation before it": {
			head: []string{limit, rule("object.spec.replicas == 1", "one") + limit},
			want: []string{"existing Warn max five", "new Warn one five", "new Warn one ten"},
		},
		"a validation before it, over an object that changes": {
			head: []string{same, changed, limit, rule("object.spec.replicas == 1", "one") + limit},
			want: []string{"existing Warn max five", "new Warn one five", "new Warn one ten"},
		},
		"a validation instead of the one behind it": {
			base: []string{limit, limit + rule("object.spec.replicas == 1", "one")},
			head: []string{limit, rule("object.spec.replicas == 1", "one") + rule("object.spec.replicas == 2", "two")},
			want: []string{"existing Warn one five", "existing Warn one ten", "new Warn two five", "new Warn two ten"},
		},
		"a validation that is edited": {
			head: []string{"int(params", "1+int(params", "message: max", "message: more"},
			want: []string{"existing Warn more five"},
		},
		"a validation that is edited and moved": {
			base: []string{limit, limit + rule("object.spec.replicas == 1", "one")},
			head: []string{limit, rule("object.spec.replicas == 2", "one") + rule("params == null || object.spec.replicas < int(params.data.max)", "max")},
			want: []string{"existing Warn max five", "existing Warn one five", "existing Warn one ten"},
		},
		"a validation that is edited, before a new one of the same message": {
			head: []string{limit, rule("params == null || object.spec.replicas < int(params.data.max)", "max") + rule("object.spec.replicas == 1", "max")},
			want: []string{"existing Warn max five", "new Warn max five", "new Warn max ten"},
		},
		"a new validation of the same message before the one that stays": {
			head: []string{limit, rule("object.spec.replicas == 1", "max") + limit},
			want: []string{"existing Warn max five", "new Warn max five", "new Warn max ten"},
		},
		"another policy": {
			head: []string{"name: p}", "name: q}", "policyName: p", "policyName: q"},
			want: []string{"new Warn max five"},
		},
		"an object in another root": {
			head: []string{"app/web.yaml", "moved/web.yaml", same, changed},
			want: []string{"existing Warn max five"},
		},
		"another binding": {
			head: []string{"{name: b}", "{name: other}"},
			want: []string{"existing Warn max five"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			base := strings.NewReplacer(test.base...).Replace(policyAndObject)
			head := strings.NewReplacer(test.head...).Replace(policyAndObject)
			r := mustScan(t, input(base, head))
			if diff := cmp.Diff(test.want, statuses(r)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for _, i := range r.Indeterminate {
				t.Errorf("indeterminate: %s", i.Why)
			}
		})
	}
}

// statuses lists findings by status, action, message and param.
func statuses(r *report.Report) []string {
	out := []string{}
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s %s %s", f.Status, f.Action, f.Message)
		if f.Param != nil {
			line += " " + f.Param.Name
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// TestNewDenyFailsTheGate checks that a change which turns an existing violation into a denial does
// not pass.
func TestNewDenyFailsTheGate(t *testing.T) {
	r := mustScan(t, input(policyAndObject, strings.Replace(policyAndObject, "[Warn]", "[Deny]", 1)))
	if v := r.Verdict("deny", false); v != report.VerdictFailed {
		t.Errorf("verdict: %s", v)
	}
	r = mustScan(t, input(policyAndObject, strings.Replace(policyAndObject, "replicas: 7", "replicas: 8", 1)))
	if v := r.Verdict("warn", false); v != report.VerdictPassed {
		t.Errorf("verdict on what failed alike: %s", v)
	}
}
