package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/scanner/lint"
)

// TestKubernetesDocumentation type checks the examples of the Kubernetes documentation
// (kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy, "Type checking")
// and compares the warnings with those in it, except for blank lines.
func TestKubernetesDocumentation(t *testing.T) {
	tests := []struct{ name, resources, warning string }{
		{
			name: "one resource", resources: `["deployments"]`,
			warning: `apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'
 | object.replicas > 1
 | ......^`,
		},
		{
			name: "two resources", resources: `["deployments","replicasets"]`,
			warning: `apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'
 | object.replicas > 1
 | ......^
apps/v1, Kind=ReplicaSet: ERROR: <input>:1:7: undefined field 'replicas'
 | object.replicas > 1
 | ......^`,
		},
		{name: "a wildcard", resources: `["*"]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := input(&txtar.Archive{Files: []txtar.File{{Name: "policy.yaml", Data: []byte(documented(test.resources))}}})
			in.Disable = []string{"unbound-policy"}
			r, err := lint.Run(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if test.warning != "" {
				want = []string{"type-check spec.validations[0].expression\n" + test.warning}
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Rule+" "+f.Location.Field+"\n"+strings.TrimSpace(strings.ReplaceAll(f.Message, "\n\n", "\n")))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("warnings (-documentation +lint):\n%s", diff)
			}
		})
	}
}

func documented(resources string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: "replica-policy.example.com"
spec:
  matchConstraints:
    resourceRules:
    - apiGroups:   ["apps"]
      apiVersions: ["v1"]
      operations:  ["CREATE", "UPDATE"]
      resources:   ` + resources + `
  validations:
  - expression: "object.replicas > 1" # should be "object.spec.replicas > 1"
    message: "must be replicated"
    reason: Invalid
`
}
