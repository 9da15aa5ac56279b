package admission_test

import (
	"encoding/json"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/decoded"
)

// generator generates objects of built-in kinds.
func generator(seed int64) *randfill.Filler {
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(.4).NumElements(0, 2).MaxDepth(14).Funcs(
		func(*metav1.TypeMeta, randfill.Continue) {},
		func(s *string, c randfill.Continue) {
			*s = []string{"", "a", "[]", "{}", "b c", "ü", "<", "10", "\u2028"}[c.Intn(9)]
		},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse([]string{"0", "1", "100m", "1.5Gi", "1e3", "0.1", "12E", "3000000000", "1u"}[c.Intn(9)])
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(7), intstr.FromString(""), intstr.FromString("25%")}[c.Intn(4)]
		},
		func(t *metav1.Time, c randfill.Continue) {
			if *t = (metav1.Time{}); c.Bool() {
				*t = metav1.NewTime(time.Unix(int64(c.Intn(1<<31)), 0))
			}
		},
		func(t *metav1.MicroTime, c randfill.Continue) {
			if *t = (metav1.MicroTime{}); c.Bool() {
				*t = metav1.NewMicroTime(time.Unix(int64(c.Intn(1<<31)), int64(c.Intn(1e6))*1000))
			}
		},
		func(raw *runtime.RawExtension, c randfill.Continue) {
			raw.Raw = []byte([]string{`{}`, `{"a":[]}`, `{"a":{"b":null}}`}[c.Intn(3)])
		},
		func(raw *metav1.FieldsV1, c randfill.Continue) {
			raw.Raw = []byte([]string{`{}`, `{"f:a":{}}`}[c.Intn(2)])
		},
		func(raw *apiextensionsv1.JSON, c randfill.Continue) {
			raw.Raw = []byte([]string{`{}`, `[]`, `"a"`, `1`, `null`}[c.Intn(5)])
		},
	)
}

// TestSharedDecoding: what another process has decoded is equal to what JSON is decoded to, as are empty lists and
// maps, which differ from those that are not set.
func TestSharedDecoding(t *testing.T) {
	t.Cleanup(func() { builtin.Share(nil) })
	objects, added := decoded.Open(""), 0
	decode := func(kind schema.GroupVersionKind, body []byte, objects *decoded.Objects) (runtime.Object, error) {
		builtin.Share(objects)
		obj, _, err := builtin.Decode(kind, body)
		return obj, err
	}
	for _, r := range builtin.Resources() {
		for seed := range int64(25) {
			body := generatedJSON(t, r.Kind, seed)
			want, err := decode(r.Kind, body, nil)
			if err != nil {
				t.Fatalf("%s: %v\n%s", r.Kind, err, body)
			}
			for _, when := range []string{"first", "then"} {
				got, err := decode(r.Kind, body, objects)
				if err != nil {
					t.Fatalf("%s: %v", r.Kind, err)
				}
				if diff := cmp.Diff(want, got, cmp.Comparer(equalQuantities)); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s\n%s", r.Kind, when, diff, body)
				}
			}
			if _, ok := objects.Find(decoded.KeyOf(r.Kind.String(), body)); ok {
				added++
			}
		}
	}
	if all := 25 * len(builtin.Resources()); added < all/2 {
		t.Errorf("%d of %d objects are shared", added, all)
	}
}

// TestSharedForms: what the encoding would change is not shared: the form of a quantity, and fields that it does not
// have.
func TestSharedForms(t *testing.T) {
	t.Cleanup(func() { builtin.Share(nil) })
	limits := func(quantity string) string {
		return `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"a"},"spec":{"limits":[{"type":"Pod","max":{"x":` + quantity + `}}]}}`
	}
	evict := func(options string) string {
		return `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"},"deleteOptions":` + options + `}`
	}
	limitRange, eviction := schema.GroupVersionKind{Version: "v1", Kind: "LimitRange"}, schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}
	for _, tc := range []struct {
		kind   schema.GroupVersionKind
		body   string
		shared bool
	}{
		{limitRange, limits(`"100m"`), true},
		{limitRange, limits(`"0.5"`), false},
		{limitRange, limits(`"2048Mi"`), false},
		{limitRange, limits(`"2Gi"`), true},
		{limitRange, limits(`"0.5Ki"`), false},
		{limitRange, limits(`"1000"`), false},
		{limitRange, limits(`1`), true},
		{limitRange, limits(`"1e3"`), true},
		{limitRange, limits(`"1.5Gi"`), false},
		{limitRange, limits(`null`), false},
		{eviction, evict(`{"gracePeriodSeconds":1}`), true},
		{eviction, evict(`{"kind":"DeleteOptions"}`), false},
	} {
		builtin.Share(nil)
		want, _, err := builtin.Decode(tc.kind, []byte(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		objects := decoded.Open("")
		builtin.Share(objects)
		for range 2 {
			if got, _, err := builtin.Decode(tc.kind, []byte(tc.body)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %#v, want %#v, %v", tc.body, got, want, err)
			}
		}
		if _, shared := objects.Find(decoded.KeyOf(tc.kind.String(), []byte(tc.body))); shared != tc.shared {
			t.Errorf("%s: shared %v", tc.body, shared)
		}
	}
}

// equalQuantities reports whether quantities are equal in all fields: their text, which may or may not be kept, is
// hashed with a Pod template.
func equalQuantities(a, b resource.Quantity) bool { return reflect.DeepEqual(a, b) }

// generatedJSON returns the JSON of a generated object. That of odd seeds has lists and maps that are empty, and values
// that are null, where Kubernetes' types write none.
func generatedJSON(t *testing.T, kind schema.GroupVersionKind, seed int64) []byte {
	t.Helper()
	obj, err := builtin.CodecOf(kind.Group).Scheme.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	generator(seed).Fill(obj)
	obj.GetObjectKind().SetGroupVersionKind(kind)
	body, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	if seed%2 == 0 {
		return body
	}
	var values map[string]any
	if err := json.Unmarshal(body, &values); err != nil {
		t.Fatal(err)
	}
	if body, err = json.Marshal(emptied(values, rand.New(rand.NewSource(seed)))); err != nil {
		t.Fatal(err)
	}
	return body
}

// emptied returns the value with some lists and maps that are empty and some values that are null.
func emptied(value any, random *rand.Rand) any {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] = emptied(v[key], random); key != "apiVersion" && key != "kind" && random.Intn(12) == 0 {
				v[key] = nil
			}
		}
		if random.Intn(12) == 0 {
			return map[string]any{}
		}
	case []any:
		for i := range v {
			if v[i] = emptied(v[i], random); random.Intn(12) == 0 {
				v[i] = nil
			}
		}
		if random.Intn(4) == 0 {
			return []any{}
		}
	}
	return value
}
