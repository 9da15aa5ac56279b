package scanner_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

// TestCoverage checks for how many objects the summary reports an exact verdict.
func TestCoverage(t *testing.T) {
	r := mustScan(t, input("-- none.txt --\n", `
-- app/objects.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
---
apiVersion: shop.example.com/v1
kind: Order
metadata: {name: a, namespace: shop}
---
apiVersion: shop.example.com/v1
kind: Order
metadata: {name: b, namespace: shop}
-- policies/policy.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: ["*"]}]
  validations: [{expression: "object.metadata.name != 'x'"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p, validationActions: [Deny]}
`))
	want := &report.Coverage{Objects: 5, Exact: 3, Unknown: []report.UnknownCount{
		{Reason: "no CustomResourceDefinition defines shop.example.com/v1 Order", Objects: 2},
	}}
	if diff := cmp.Diff(want, r.Summary.Coverage); diff != "" {
		t.Error(diff)
	}
}
