package suite

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestWhatIsNotCompared checks that annotations of slow servers are no difference, that a refused
// policy may have no name, and that a PUT has the name of the object that it updates.
func TestWhatIsNotCompared(t *testing.T) {
	s, err := Load(fstest.MapFS{
		PoliciesFile: {Data: []byte("{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, spec: {policyName: p}}\n")},
		RequestsFile: {Data: []byte(`requests:
- {name: create, operation: CREATE, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
- name: rename
  operation: UPDATE
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
  oldObject: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
`)},
		ExpectedFile: {Data: []byte(`policyErrors:
- {kind: MutatingAdmissionPolicyBinding, name: ''}
verdicts:
- name: create
  allowed: true
  auditAnnotations: {apiserver.latency.k8s.io/etcd: 600ms}
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}
- {name: rename, allowed: false, code: 400, reason: BadRequest, message: the name of the object (b) does not match the name on the URL (a)}
`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Test(t.Context(), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Errorf("%s: %+v", f.Request, f.Differences)
	}
}

// TestObjectsOfSecrets checks that a stored Secret is compared like other objects, and that
// differences do not show its values.
func TestObjectsOfSecrets(t *testing.T) {
	const archive = `-- policies.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: typed}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]}
  variables: [{name: n, expression: "'yes'"}]
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'typed': variables.n}}}"}}]
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: typed}, spec: {policyName: typed}}
-- requests.yaml --
requests:
- name: create
  operation: CREATE
  object: {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default, labels: {x: y}}, stringData: {a: hunter2}}
-- expected.yaml --
verdicts:
- name: create
  allowed: true
  object: {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default, labels: {typed: "yes", x: y}}, data: {a: aHVudGVyMg==}, type: Opaque}
`
	if r := testSuite(t, archive); len(r.Failures) > 0 || len(r.PolicyErrors) > 0 {
		t.Errorf("%+v, refused %+v", r.Failures, r.PolicyErrors)
	}
	r := testSuite(t, archive)
	if text := fmt.Sprint(r.Report().Verdicts); !strings.Contains(text, "typed:yes") || !strings.Contains(text, "aHVudGVyMg") {
		t.Errorf("the report has %s, want the object as the suite has it", text)
	}
	r = testSuite(t, strings.Replace(archive, "aHVudGVyMg==", "b3RoZXI=", 1))
	if text := fmt.Sprint(r.Failures); len(r.Failures) != 1 || !strings.Contains(text, "typed:yes") || strings.Contains(text, "aHVudGVyMg") || strings.Contains(text, "b3RoZXI") {
		t.Errorf("%s, want one difference, masked", text)
	}
}
