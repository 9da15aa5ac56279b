package settled_test

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// TestKeyOfObject: objects with different content have different keys.
func TestKeyOfObject(t *testing.T) {
	role := func(rules []rbacv1.PolicyRule) *rbacv1.Role { return &rbacv1.Role{Rules: rules} }
	quantity := func(text string) *corev1.LimitRangeItem {
		return &corev1.LimitRangeItem{Max: corev1.ResourceList{"cpu": resource.MustParse(text)}}
	}
	type list struct {
		Next   *list
		Values []int
	}
	seen := map[settled.Key]any{}
	for _, value := range []any{
		nil, (*corev1.Pod)(nil), &corev1.Pod{}, &corev1.Secret{}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a"}},
		role(nil), role([]rbacv1.PolicyRule{}), role(make([]rbacv1.PolicyRule, 1)), role(make([]rbacv1.PolicyRule, 2)),
		role([]rbacv1.PolicyRule{{Verbs: []string{"a", "b"}}}), role([]rbacv1.PolicyRule{{Verbs: []string{"ab"}}}), role([]rbacv1.PolicyRule{{Verbs: []string{"a"}, APIGroups: []string{"b"}}}),
		quantity("1"), quantity("2"), quantity("1001m"),
		&appsv1.DeploymentSpec{Replicas: new(int32(0))}, &appsv1.DeploymentSpec{}, &appsv1.DeploymentSpec{Replicas: new(int32(-1))}, &appsv1.DeploymentSpec{Paused: true},
		&metav1.ObjectMeta{Labels: map[string]string{}}, &metav1.ObjectMeta{Labels: map[string]string{"a": "b", "c": "d"}}, &metav1.ObjectMeta{Labels: map[string]string{"a": "d", "c": "b"}}, &metav1.ObjectMeta{Annotations: map[string]string{"a": "b", "c": "d"}},
		&admissionv1.AdmissionRequest{Options: runtime.RawExtension{Object: &metav1.CreateOptions{FieldManager: "a"}}}, &admissionv1.AdmissionRequest{},
		&list{}, &list{Next: &list{}}, &list{Values: []int{}}, &list{Values: []int{300}}, &list{Values: []int{3, 0}},
	} {
		for range 3 { // maps are iterated over in random order
			key, err := settled.KeyOf(settled.Object{Value: value})
			if err != nil {
				t.Fatal(err)
			}
			isNil := value == nil || reflect.ValueOf(value).IsNil()
			if other, ok := seen[key]; ok && other != value && !isNil {
				t.Errorf("%#v has the key of %#v", value, other)
			}
			seen[key] = value
		}
	}
	for _, value := range []any{make(chan int), &struct{ F func() }{}, &struct{ V any }{V: 1}} {
		if _, err := settled.KeyOf(settled.Object{Value: value}); err == nil {
			t.Errorf("%#v has a key", value)
		}
	}
}

// TestKeyOfGenerated: generated Pods have equal keys exactly if their fields are equal.
func TestKeyOfGenerated(t *testing.T) {
	of := map[settled.Key]*corev1.Pod{}
	for seed := range int64(300) {
		filler := randfill.New().RandSource(rand.NewSource(seed)).NilChance(.7).NumElements(0, 2).Funcs(
			func(s *string, c randfill.Continue) { *s = []string{"", "a", "b"}[c.Intn(3)] },
			func(q *resource.Quantity, c randfill.Continue) {
				*q = resource.MustParse([]string{"1", "100m"}[c.Intn(2)])
			},
			func(v *metav1.Time, c randfill.Continue) { *v = metav1.Unix(int64(c.Intn(1<<31)), 0) },
		)
		pod := new(corev1.Pod)
		filler.Fill(pod)
		for i, p := range []*corev1.Pod{pod, pod.DeepCopy()} {
			key, err := settled.KeyOf(settled.Object{Value: p})
			if err != nil {
				t.Fatal(err)
			}
			other, ok := of[key]
			if i > 0 && other != pod {
				t.Errorf("seed %d: a copy has another key", seed)
			} else if ok && i == 0 && !reflect.DeepEqual(other, p) {
				a, _ := json.Marshal(p)
				b, _ := json.Marshal(other)
				t.Errorf("equal keys of\n%s\n%s", a, b)
			}
			of[key] = pod
		}
	}
}
