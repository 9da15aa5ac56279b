package admission

import (
	"context"
	"errors"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/scanner/kinds"
)

// TestPanic: an object that makes Kubernetes' code panic is refused as by a server.
func TestPanic(t *testing.T) {
	c := NewCluster(ClusterOptions{Known: kinds.CompleteAll()}, NewIndex(nil))
	_, _, err := c.Prepare(context.Background(), ClientRequest{
		Operation: k8sadmission.Create, User: &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}},
		Object: NewObject(map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
			"metadata": map[string]any{"name": "p"},
			"spec": map[string]any{
				"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
					"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"pods"},
				}}},
				"validations": []any{map[string]any{"expression": "{?'a': object.x}.size() == 0"}},
			},
		}),
	})
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Code != http.StatusInternalServerError {
		t.Errorf("got %v, want an internal error", err)
	}
}
