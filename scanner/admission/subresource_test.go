package admission

import (
	"context"
	"errors"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/scanner/admission/apply"
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

// TestOperationsOfKinds: nobody creates a ComponentStatus, and a TokenReview is only created, not applied.
func TestOperationsOfKinds(t *testing.T) {
	const (
		status     = "{apiVersion: v1, kind: ComponentStatus, metadata: {name: one}}"
		review     = "{apiVersion: authentication.k8s.io/v1, kind: TokenReview, metadata: {name: one}, spec: {token: a}}"
		notAllowed = "the server does not allow this method on the requested resource"
	)
	for _, test := range []struct {
		text      string
		operation k8sadmission.Operation
		by        apply.Applier
		want      string
	}{
		{status, k8sadmission.Create, "", notAllowed},
		{status, k8sadmission.Update, "", notAllowed},
		{status, k8sadmission.Delete, "", notAllowed},
		{review, k8sadmission.Create, "", ""},
		{review, k8sadmission.Create, apply.Replace, ""},
		{review, k8sadmission.Create, apply.Flux, notAllowed},
		{review, k8sadmission.Create, apply.Kubectl, notAllowed},
		{review, k8sadmission.Update, "", notAllowed},
		{review, k8sadmission.Delete, apply.Flux, notAllowed},
		{webDeployment, k8sadmission.Create, apply.Flux, ""},
		{webDeployment, k8sadmission.Update, apply.Kubectl, ""},
		{webDeployment, k8sadmission.Delete, apply.Flux, ""},
	} {
		o := object(t, test.text)
		a := ClientRequest{Operation: test.operation, Object: o, OldObject: o, Applier: test.by, User: &user.DefaultInfo{Name: "admin", Groups: []string{user.SystemPrivilegedGroup}}}
		switch test.operation {
		case k8sadmission.Create:
			a.OldObject = nil
		case k8sadmission.Delete:
			a.Object = nil
		}
		got := ""
		var refused *apierrors.StatusError
		if _, _, err := open(t).Prepare(t.Context(), a); errors.As(err, &refused) {
			got = refused.ErrStatus.Message
		} else if err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("%s %s by %q: %q, want %q", test.operation, o.GroupVersionKind().Kind, test.by, got, test.want)
		}
	}
}
