package admission_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// TestErrorsOfTypesHaveAnOrder: of several mistakes always the same one is reported.
func TestErrorsOfTypesHaveAnOrder(t *testing.T) {
	types, err := apply.NewTypes(scheme.Scheme).Group("apps")
	if err != nil {
		t.Fatal(err)
	}
	container := func(name string) any {
		return map[string]any{"name": name, "x": int64(1), "a": int64(1), "env": "text"}
	}
	deployment := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"spec": map[string]any{
			"replicas": "many", "wrong": int64(1), "paused": "no", "another": int64(1), "minReadySeconds": "text",
			"template": map[string]any{"spec": map[string]any{"containers": []any{container("b"), container("a")}}},
		},
	}}
	const want = ".spec.another: field not declared in schema"
	for range 30 {
		if _, err := types.ObjectToTyped(deployment); err == nil || err.Error() != want {
			t.Fatalf("error %v, want %s", err, want)
		}
	}
	delete(deployment.Object["spec"].(map[string]any), "another")
	const later = `errors:
  .spec.minReadySeconds: expected numeric (int or float), got string
  .spec.paused: expected boolean, got &{no}
  .spec.replicas: expected numeric (int or float), got string
  .spec.template.spec.containers[name="b"].a: field not declared in schema
  .spec.template.spec.containers[name="a"].a: field not declared in schema
  .spec.wrong: field not declared in schema`
	for range 30 {
		if _, err := types.ObjectToTyped(deployment); err == nil || err.Error() != later {
			t.Fatalf("error %v, want %s", err, later)
		}
	}
	deployment.Object["spec"] = map[string]any{"replicas": int64(1)}
	if _, err := types.ObjectToTyped(deployment); err != nil {
		t.Errorf("error %v of what is right", err)
	}
}
