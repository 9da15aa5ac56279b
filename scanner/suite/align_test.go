package suite

import (
	"strings"
	"testing"
)

// TestAlign checks that of two policies that deny, the server may return either.
func TestAlign(t *testing.T) {
	var archive strings.Builder
	archive.WriteString("-- policies.yaml --\n")
	for _, p := range []struct{ name, reason string }{{"a", "Invalid"}, {"b", "Forbidden"}} {
		archive.WriteString(strings.NewReplacer("NAME", p.name, "REASON", p.reason).Replace(`---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME.example.com}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "false", message: never, reason: REASON}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME.example.com, validationActions: [Deny, Audit]}
`))
	}
	archive.WriteString(`-- requests.yaml --
requests:
- {name: c, operation: CREATE, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}
`)
	message := func(policy string) string {
		return `message: "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy '` + policy + `.example.com' with binding '` + policy + `' denied request: never"`
	}
	tests := []struct {
		entry string
		fails bool
	}{
		{"allowed: false", false},
		{"code: 422", false},
		{"code: 403", false},
		{"reason: Forbidden, code: 403", false},
		{"code: 403, " + message("b"), false},
		{"code: 422, " + message("a"), false},
		{"code: 422, " + message("b"), true},
		{"code: 401", true},
		{"reason: Forbidden, code: 422", true},
	}
	for _, test := range tests {
		r := testSuite(t, archive.String()+"-- expected.yaml --\nverdicts:\n- {name: c, "+test.entry+"}\n")
		if failed := len(r.Failures) > 0; failed != test.fails {
			t.Errorf("%s: failures %+v, want any %v", test.entry, r.Failures, test.fails)
		}
	}
}

// TestAlignErrorsOfMaps checks that the order of errors of labels does not matter.
func TestAlignErrorsOfMaps(t *testing.T) {
	recorded := Verdict{Message: `ConfigMap "a" is invalid: [metadata.labels: one, metadata.labels: two]`}
	for message, same := range map[string]bool{
		`ConfigMap "a" is invalid: [metadata.labels: two, metadata.labels: one]`:   true,
		`ConfigMap "a" is invalid: [metadata.labels: two, metadata.labels: three]`: false,
		`ConfigMap "b" is invalid: [metadata.labels: two, metadata.labels: one]`:   false,
		`ConfigMap "a" is invalid: metadata.labels: two`:                           false,
	} {
		if got := Align(recorded, Verdict{Message: message}).Message == recorded.Message; got != same {
			t.Errorf("%s: taken for the recorded message: %v", message, got)
		}
	}
}
