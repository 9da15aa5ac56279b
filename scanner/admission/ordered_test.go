package admission

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sadmission "k8s.io/apiserver/pkg/admission"
)

// TestLimitRangesByName: of several LimitRanges, the defaults of the first by name are always used.
func TestLimitRangesByName(t *testing.T) {
	var limits []*Object
	for i := range 9 {
		limits = append(limits, object(t, fmt.Sprintf(`
apiVersion: v1
kind: LimitRange
metadata: {name: limit-%d, namespace: team}
spec: {limits: [{type: Container, default: {memory: %dMi}}]}
`, 9-i, 9-i)))
	}
	pod := object(t, `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: team}
spec: {containers: [{name: c, image: nginx}]}
`)
	for range 10 {
		req, _, err := NewCluster(ClusterOptions{}, NewIndex(limits)).Prepare(context.Background(), ask(k8sadmission.Create, pod, nil))
		if err != nil {
			t.Fatal(err)
		}
		containers, _, _ := unstructured.NestedSlice(seen(t, req), "spec", "containers")
		if memory, _, _ := unstructured.NestedString(containers[0].(map[string]any), "resources", "limits", "memory"); memory != "1Mi" {
			t.Fatalf("limit of memory: %s, want that of limit-1", memory)
		}
	}
}

// TestDefaultPriorityClassesByName: of several defaults of equal value, the first by name is used.
func TestDefaultPriorityClassesByName(t *testing.T) {
	var classes []*Object
	for i := range 9 {
		classes = append(classes, object(t, fmt.Sprintf(`
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: class-%d}
value: 7
globalDefault: true
`, 9-i)))
	}
	pod := object(t, `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: team}
spec: {containers: [{name: c, image: nginx}]}
`)
	for range 10 {
		req, _, err := NewCluster(ClusterOptions{}, NewIndex(classes)).Prepare(context.Background(), ask(k8sadmission.Create, pod, nil))
		if err != nil {
			t.Fatal(err)
		}
		if class, _, _ := unstructured.NestedString(seen(t, req), "spec", "priorityClassName"); class != "class-1" {
			t.Fatalf("class %q, want class-1", class)
		}
	}
}
