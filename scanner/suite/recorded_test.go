package suite

import (
	"testing"
	"testing/fstest"
)

// TestWhatIsNotCompared: what a server adds when it is slow is no difference, a refused policy may
// have no name, and a PUT is to the name of what it updates.
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
