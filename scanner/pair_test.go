package scanner_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/target"
)

func configMap(namespace, name, generateName, value string) *admission.Object {
	meta := map[string]any{}
	for field, v := range map[string]string{"namespace": namespace, "name": name, "generateName": generateName} {
		if v != "" {
			meta[field] = v
		}
	}
	return admission.NewObject(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{"v": value},
	})
}

func TestPairObjects(t *testing.T) {
	base := []*admission.Object{
		configMap("", "same", "", "1"), configMap("", "changed", "", "1"), configMap("", "gone", "", "1"),
		configMap("", "", "made-", "1"), configMap("", "", "made-", "2"), configMap("", "twice", "", "1"),
		configMap("", "once", "", "1"), configMap("", "once", "", "2"), configMap("", "once", "", "1"),
	}
	head := []*admission.Object{
		configMap("", "new", "", "1"), configMap("default", "changed", "", "2"), configMap("", "same", "", "1"),
		configMap("", "", "made-", "2"), configMap("", "", "made-", "3"),
		configMap("", "twice", "", "1"), configMap("", "twice", "", "2"),
		configMap("", "once", "", "1"),
	}
	got := []string{}
	for _, p := range target.PairObjects(admission.NewCluster(admission.ClusterOptions{}), base, head) {
		got = append(got, fmt.Sprintf("%s %s%s same=%v", p.Operation(), p.Key, p.Object().GenerateName(), p.Same))
	}
	want := []string{
		"CREATE ConfigMap/default/new same=false",
		"UPDATE ConfigMap/default/changed same=false", // the namespace is explicit, which is a difference
		"UPDATE ConfigMap/default/same same=true",
		"CREATE ConfigMap/default/made- same=true",
		"CREATE ConfigMap/default/made- same=false",
		"UPDATE ConfigMap/default/twice same=true",
		"UPDATE ConfigMap/default/twice same=false", // an API server has it already
		"UPDATE ConfigMap/default/once same=true",
		"DELETE ConfigMap/default/gone same=false",
		"UPDATE ConfigMap/default/once same=false", // not deleted, since another manifest has it
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

func TestEqualObjects(t *testing.T) {
	values := []any{
		nil, true, false, "", "a", int64(1), 1.5, []any{}, []any{int64(1)}, []any{"a", nil},
		map[string]any{}, map[string]any{"a": nil}, map[string]any{"b": nil}, map[string]any{"a": []any{"x"}},
	}
	object := func(v any) *admission.Object { return admission.NewObject(map[string]any{"data": v}) }
	for i, a := range values {
		parsed, err := object(a).JSON()
		if err != nil {
			t.Fatal(err)
		}
		for j, b := range values {
			if got := change.Equal(object(a), object(b)); got != (i == j) {
				t.Errorf("equalObjects(%v, %v) = %v", a, b, got)
			}
			if got := change.Equal(admission.ParseObject(parsed), object(b)); got != (i == j) {
				t.Errorf("equalObjects(parsed %v, %v) = %v", a, b, got)
			}
		}
	}
}
