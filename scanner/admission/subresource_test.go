package admission

import (
	"context"
	"errors"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/scanner/kinds"
)

const scalable = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
`

// TestSubresourcesTakeOperations: a server neither creates nor deletes a status or a Scale.
func TestSubresourcesTakeOperations(t *testing.T) {
	const thing = "{apiVersion: example.com/v1, kind: Thing, metadata: {name: one}}"
	for _, test := range []struct {
		text, subresource string
		operation         string
		code              int32
		message           string
	}{
		{webDeployment, "scale", "CREATE", http.StatusMethodNotAllowed, "the server does not allow this method on the requested resource"},
		{webDeployment, "scale", "DELETE", http.StatusMethodNotAllowed, "the server does not allow this method on the requested resource"},
		{webDeployment, "status", "CREATE", http.StatusMethodNotAllowed, "the server does not allow this method on the requested resource"},
		{webDeployment, "status", "DELETE", http.StatusMethodNotAllowed, "the server does not allow this method on the requested resource"},
		{webDeployment, "frob", "CREATE", http.StatusNotFound, "the server could not find the requested resource"},
		{thing, "scale", "CREATE", http.StatusMethodNotAllowed, `create is not supported on resources of kind "things.example.com"`},
		{thing, "status", "DELETE", http.StatusMethodNotAllowed, `delete is not supported on resources of kind "things.example.com"`},
		{thing, "frob", "CREATE", http.StatusNotFound, `things.example.com "one" not found`},
	} {
		t.Run(test.operation+" "+test.subresource, func(t *testing.T) {
			c := open(t, scalable)
			a := ask("CREATE", object(t, test.text), nil)
			if test.operation == "DELETE" {
				a = ask("DELETE", nil, object(t, test.text))
			}
			a.Subresource, a.User = test.subresource, &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}
			_, _, err := c.Prepare(context.Background(), a)
			var status *apierrors.StatusError
			if !errors.As(err, &status) || status.ErrStatus.Code != test.code || status.ErrStatus.Message != test.message {
				t.Errorf("%v, want %d %s", err, test.code, test.message)
			}
		})
	}
}

// TestAuthorizeScaleWithoutAWorkload: creating a Scale needs a right, too.
func TestAuthorizeScaleWithoutAWorkload(t *testing.T) {
	c := NewCluster(ClusterOptions{Known: kinds.CompleteAll()}, NewIndex(nil))
	a := ask("CREATE", object(t, webDeployment), nil)
	a.Subresource, a.User = "scale", &user.DefaultInfo{Name: "jane"}
	if err := c.Authorize(context.Background(), a); !apierrors.IsForbidden(err) {
		t.Errorf("%v, want that it is forbidden", err)
	}
}
