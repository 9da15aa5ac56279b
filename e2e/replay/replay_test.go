package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/suite"
)

func TestInOrder(t *testing.T) {
	var objects []*admission.Object
	for _, kind := range []string{"ConfigMap", "Namespace", "CustomResourceDefinition", "Role", "Namespace"} {
		objects = append(objects, admission.NewObject(map[string]any{"kind": kind}))
	}
	var got []string
	for _, o := range inOrder(objects) {
		got = append(got, o.GroupVersionKind().Kind)
	}
	want := []string{"CustomResourceDefinition", "Namespace", "Namespace", "ConfigMap", "Role"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestCall(t *testing.T) {
	place := live.Place{Collection: "/apis/apps/v1/namespaces/n/deployments", Path: "/apis/apps/v1/namespaces/n/deployments/web"}
	web := map[string]any{"kind": "Deployment", "metadata": map[string]any{"name": "web"}}
	old := map[string]any{"kind": "Deployment", "metadata": map[string]any{"name": "web", "resourceVersion": "7"}}
	tests := []struct {
		request suite.Request
		want    string
		body    any
	}{
		{suite.Request{Operation: "CREATE", Object: web}, "POST /apis/apps/v1/namespaces/n/deployments?dryRun=All&fieldValidation=Warn", web},
		{suite.Request{Operation: "UPDATE", Object: web, OldObject: web}, "PUT /apis/apps/v1/namespaces/n/deployments/web?dryRun=All&fieldValidation=Warn", old},
		{suite.Request{Operation: "UPDATE", Subresource: "scale", Object: web, OldObject: web}, "PUT /apis/apps/v1/namespaces/n/deployments/web/scale?dryRun=All&fieldValidation=Warn", old},
		{suite.Request{Operation: "DELETE", OldObject: web}, "DELETE /apis/apps/v1/namespaces/n/deployments/web?dryRun=All", nil},
	}
	for _, test := range tests {
		c := call(&test.request, place, old)
		if got := c.Method + " " + c.Path + "?" + c.Query.Encode(); got != test.want {
			t.Errorf("call is %s, want %s", got, test.want)
		}
		if diff := cmp.Diff(test.body, c.Body); diff != "" {
			t.Errorf("%s: body (-want +got):\n%s", test.want, diff)
		}
	}
	if web["metadata"].(map[string]any)["resourceVersion"] != nil {
		t.Error("the object of the suite has been changed")
	}
}

func TestProbeObjects(t *testing.T) {
	s := &probe{Policies: 3, State: 4, Mutates: true}
	objects, err := s.objects()
	if err != nil {
		t.Fatal(err)
	}
	request := objects[len(objects)-1]
	want := map[string]string{"policies": "p3", "state": "s4"}
	if diff := cmp.Diff(want, request.Labels()); request.GroupVersionKind().Kind != "Lease" || diff != "" {
		t.Errorf("the last object is %v, want the request", request.Content())
	}
	warning := "Validation failed for ValidatingAdmissionPolicy 'preadmit-probe' with binding 'preadmit-probe': "
	if !seen([]string{"other", warning + "probe in force 3"}, warnsInForce+" 3") || seen([]string{warning + "probe in force 33"}, warnsInForce+" 3") {
		t.Error("warnings are not told apart")
	}
}
