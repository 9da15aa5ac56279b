package scanner_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

const onlyPolicy = `
-- policies/p.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
  validations: [{expression: "true"}]
`

// TestNoPolicyInForce checks when a report states that no policy judged, and why.
func TestNoPolicyInForce(t *testing.T) {
	const kyverno = "-- kyverno/p.yaml --\n{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: p}}\n"
	const app = "\n-- app/cm.yaml --\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	bindingOf := func(policy string) string { return strings.Replace(idleBinding, "missing.example.com", policy, 1) }
	tests := map[string]struct {
		base, head         string
		given              string
		policies, bindings int
		want               string
	}{
		"none":                   {head: app, want: "there is no ValidatingAdmissionPolicy among the manifests; add policies and bindings, or give them with --policies"},
		"none, and none given":   {head: app, given: "{apiVersion: v1, kind: Namespace, metadata: {name: a}}", want: "there is no ValidatingAdmissionPolicy among the manifests, nor in given"},
		"a policy and a binding": {head: app + onlyPolicy + bindingOf("limit"), policies: 1, bindings: 1},
		"a policy":               {head: app + onlyPolicy, policies: 1, want: "there is no ValidatingAdmissionPolicyBinding, without which 1 policy has no effect; add one, or give it with --policies"},
		"a binding":              {head: app + idleBinding, bindings: 1, want: "1 binding is here, but no ValidatingAdmissionPolicy; add the policies, or give them with --policies"},
		"a binding of another": {
			head: app + onlyPolicy + idleBinding, policies: 1, bindings: 1,
			want: "1 binding is of another policy than that of 1 policy; a policy has an effect only with a binding that names it",
		},
		"a refused policy": {
			head: app + strings.Replace(onlyPolicy, `"true"`, `"nothing"`, 1) + bindingOf("limit"), bindings: 1, want: "1 policy is here, which the API server refuses",
		},
		"policies of Kyverno": {
			head: app + kyverno,
			want: "there is no ValidatingAdmissionPolicy among the manifests; add policies and bindings, or give them with --policies; policies of Kyverno are not evaluated",
		},
		"policies of Kyverno that the change does not touch": {
			base: app + kyverno, head: strings.Replace(app, "name: a", "name: b", 1) + kyverno,
			want: "there is no ValidatingAdmissionPolicy among the manifests; add policies and bindings, or give them with --policies; policies of Kyverno are not evaluated",
		},
		"a change":            {base: app, head: strings.Replace(app, "name: a", "name: b", 1), want: "there is no ValidatingAdmissionPolicy among the manifests; add policies and bindings, or give them with --policies"},
		"a change of nothing": {base: app, head: app + "-- README.md --\nhello\n"},
		"a change that removes the binding": {
			base: app + onlyPolicy + bindingOf("limit"), head: strings.Replace(app, "name: a", "name: b", 1) + onlyPolicy, policies: 1, bindings: 1,
		},
	}
	t.Run("policies in no target", func(t *testing.T) {
		in := input("", app+onlyPolicy+bindingOf("limit"))
		in.Config.Targets = []config.Target{{Name: "prod", Roots: []string{"app"}}}
		none := mustScan(t, in).Summary.NoPolicies
		if none == nil || none.Why != "there is no ValidatingAdmissionPolicy among the manifests of the targets of .preadmit.yaml; add policies and bindings, or give them with --policies" {
			t.Errorf("%+v", none)
		}
	})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := input(test.base, test.head)
			if test.given != "" {
				in.Extra = []scanner.Extra{{Name: "given", FS: tree("-- x.yaml --\n" + test.given + "\n"), Policies: true}}
			}
			r := mustScan(t, in)
			why := ""
			if r.Summary.NoPolicies != nil {
				why = r.Summary.NoPolicies.Why
			}
			if why != test.want || r.Summary.Policies != test.policies || r.Summary.Bindings != test.bindings {
				t.Errorf("%d policies, %d bindings, %q; want %d, %d, %q", r.Summary.Policies, r.Summary.Bindings, why, test.policies, test.bindings, test.want)
			}
			in.Config.RequirePolicies = true
			want := report.VerdictIncomplete
			if test.want == "" {
				want = report.VerdictPassed
			}
			if v := mustScan(t, in).Verdict("deny", false); v != want {
				t.Errorf("verdict with policies required: %s, want %s", v, want)
			}
		})
	}
}

// TestNothingIsJudgedWherePoliciesAreRequired checks that a scan of a wrong directory does not
// pass, and that a change without requests does.
func TestNothingIsJudgedWherePoliciesAreRequired(t *testing.T) {
	const readme = "-- README.md --\nhello\n"
	for base, want := range map[string]report.Verdict{"": report.VerdictIncomplete, readme: report.VerdictPassed} {
		in := input(base, readme+"there\n")
		in.Config.RequirePolicies = true
		if v := mustScan(t, in).Verdict("deny", false); v != want {
			t.Errorf("base %q: verdict %s, want %s", base, v, want)
		}
	}
}
