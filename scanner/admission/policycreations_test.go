package admission

import (
	"context"
	"testing"

	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// TestPolicyCreations: clusters that share creations prepare a policy once, unless they have all RBAC
// objects.
func TestPolicyCreations(t *testing.T) {
	binding := object(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: b},
spec: {policyName: p, validationActions: [Deny]}}`)
	in := ClientRequest{Operation: k8sadmission.Create, Object: binding, User: &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}}
	for _, test := range []struct {
		known kinds.Complete
		once  bool
	}{{kinds.Complete{}, true}, {kinds.CompleteAll(), false}} {
		opts := ClusterOptions{Known: test.known, Policies: &PolicyCreations{}}
		var requests []*Request
		for range 2 {
			req, _, err := NewCluster(opts, NewIndex(nil)).Prepare(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			requests = append(requests, req)
		}
		if once := requests[0] == requests[1]; once != test.once {
			t.Errorf("all kinds known %v: prepared once %v, want %v", test.known.HasAll(), once, test.once)
		}
	}
}
