package admission

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// TestPutsOfAnotherUIDConflict: for a PUT, a server first compares the UID of the object with that of the
// stored one. A patch writes it, and a UID cannot change.
func TestPutsOfAnotherUIDConflict(t *testing.T) {
	const conflict = "StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: abc, UID in object meta: UID"
	for _, test := range []struct {
		name, text string
		by         apply.Applier
		dryRun     bool
		code       int32
		message    string
	}{
		{"a ConfigMap", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}", "", true, http.StatusConflict, `configmaps "a": ` + keyed(conflict, "/configmaps/b/a")},
		{"stored", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}", "", false, http.StatusConflict, `configmaps "a": ` + keyed(conflict, "/registry/configmaps/b/a")},
		{"a Service", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {ports: [{port: 80}]}}", "", true, http.StatusConflict, `services "a": ` + keyed(conflict, "/services/specs/b/a")},
		{"a Node", "{apiVersion: v1, kind: Node, metadata: {name: a}}", "", true, http.StatusConflict, `nodes "a": ` + keyed(conflict, "/minions/a")},
		{"a custom resource", "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a, namespace: b}}", "", true, http.StatusConflict, `things.example.com "a": ` + keyed(conflict, "/example.com/things/b/a")},
		{"applied", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}", apply.Flux, true, http.StatusUnprocessableEntity, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := open(t, scalable)
			was := object(t, test.text)
			now := (&unstructured.Unstructured{Object: was.Content()}).DeepCopy()
			now.SetUID("abc")
			a := ask("UPDATE", NewObject(now.Object), was)
			a.Applier, a.DryRun = test.by, test.dryRun
			_, _, err := c.Prepare(context.Background(), a)
			var status *apierrors.StatusError
			if !errors.As(err, &status) || status.ErrStatus.Code != test.code {
				t.Fatalf("%v, want %d", err, test.code)
			}
			message := regexp.MustCompile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").ReplaceAllString(status.ErrStatus.Message, "UID")
			if want := "Operation cannot be fulfilled on " + test.message; test.message != "" && message != want {
				t.Errorf("%s\nwant %s", message, want)
			}
		})
	}
}

func keyed(message, key string) string {
	return regexp.MustCompile("%s").ReplaceAllString(message, key)
}

// TestSubresourcesThatAreNotServedWarnOfNothing: only handlers warn that a version is deprecated.
func TestSubresourcesThatAreNotServedWarnOfNothing(t *testing.T) {
	c := NewCluster(ClusterOptions{Known: kinds.CompleteAll()}, NewIndex(nil))
	endpoints := object(t, "{apiVersion: v1, kind: Endpoints, metadata: {name: a}}")
	a := ask("UPDATE", endpoints, endpoints)
	if _, warned, _ := c.Prepare(context.Background(), a); len(warned) != 1 {
		t.Errorf("%q, want that Endpoints are deprecated", warned)
	}
	a.Subresource = "status"
	if _, warned, err := c.Prepare(context.Background(), a); !apierrors.IsNotFound(err) || len(warned) != 0 {
		t.Errorf("%v, %q, want that it is not found and no warning", err, warned)
	}
}

// TestPutsHaveTheNameOfTheirPath: the object of a PUT must have the name of its path.
func TestPutsHaveTheNameOfTheirPath(t *testing.T) {
	c := open(t)
	was := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}")
	for name, want := range map[string]string{
		"":  "the name of the object (a based on URL) was undeterminable: name must be provided",
		"z": "the name of the object (z) does not match the name on the URL (a)",
	} {
		now := (&unstructured.Unstructured{Object: was.Content()}).DeepCopy()
		now.SetName(name)
		if _, _, err := c.Prepare(context.Background(), ask("UPDATE", NewObject(now.Object), was)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
