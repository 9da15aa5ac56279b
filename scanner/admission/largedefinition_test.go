package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/size"
)

// unmoved is a Mutator that changes nothing: with one, the size of a large definition is computed.
type unmoved struct{}

func (unmoved) Mutate(context.Context, *Request) error { return nil }

// largeDefinition returns a definition with many properties.
func largeDefinition(properties int, property string, versions, metadata string) string {
	var schema strings.Builder
	for i := range properties {
		fmt.Fprintf(&schema, `%q: %s, `, fmt.Sprintf("p%05d", i), property)
	}
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: larges.example.com, ` + metadata + `},
		spec: {group: example.com, scope: Namespaced, names: {kind: Large, plural: larges}, versions: [` + versions + `
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {` + schema.String() + `}}}}]}}`
}

// TestLargeDefinition: the size of a definition that is certainly small enough for etcd, including all
// additions, is not computed, and applying it has the same result.
func TestLargeDefinition(t *testing.T) {
	keys, finalizers, versions := "", "", ""
	for i := range 2000 {
		keys += fmt.Sprintf(`"k%d": "", `, i)
		finalizers += fmt.Sprintf("example.com/f%d, ", i)
	}
	for i := range 1500 {
		versions += fmt.Sprintf("{name: v1alpha%d, schema: {openAPIV3Schema: {type: object}}}, ", i+1)
	}
	word := strings.Repeat("word ", 400)
	for name, test := range map[string]struct {
		text string
		// bounded is set if the bound is below etcd's limit, denied if the definition is too large
		// for etcd.
		bounded, denied bool
	}{
		"descriptions":           {largeDefinition(200, `{type: string, description: "`+word+`"}`, "", ""), true, false},
		"other spellings":        {largeDefinition(220, `{type: string, description: "`+strings.Repeat("<é>\\n ", 280)+`"}`, "", ""), false, false},
		"numbers with exponents": {largeDefinition(5000, `{type: number, maximum: 1.0e+20, minimum: -1.0e+20, description: numbers}`, "", ""), true, false},
		"metadata":               {largeDefinition(200, `{type: string, description: "`+word+`"}`, "", "labels: {"+keys+"}, annotations: {"+keys+"}, finalizers: ["+finalizers+"]"), true, false},
		"versions":               {largeDefinition(200, `{type: string, description: "`+word+`"}`, versions, ""), true, false},
		"too large":              {largeDefinition(800, `{type: string, description: "`+word+`"}`, "", ""), false, true},
	} {
		text, err := object(t, test.text).JSON()
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("100000000000000000000"), []byte("1e20"))
		o := ParseObject(text)
		if len(text) < size.MaxStored/4 {
			t.Fatalf("%s: %d bytes, which are not many", name, len(text))
		}
		bound, err := size.OfDefinition(text)
		if err != nil {
			t.Fatal(err)
		}
		if is := size.Stored(bound) == nil; is != test.bounded {
			t.Errorf("%s: at most %d bytes, want less than %d: %t", name, bound, size.MaxStored, test.bounded)
		}
		for _, by := range []apply.Applier{apply.Flux, apply.Replace} {
			measured, short := largeBy(t, o, by, unmoved{}), largeBy(t, o, by, nil)
			stored, err := measured.stored()
			if err != nil || stored > bound {
				t.Errorf("%s by %s: %d bytes, at most %d: %v", name, by, stored, bound, err)
			}
			if denied := errors.As(short.TooLarge(), new(*apierrors.StatusError)); denied != test.denied || (short.stored == nil) != test.bounded {
				t.Errorf("%s by %s: denied %t, size computed %t", name, by, denied, short.stored != nil)
			}
			if diff := cmp.Diff(seen(t, measured), seen(t, short)); diff != "" {
				t.Errorf("%s by %s (-by the managers of fields +by the bound):\n%.2000s", name, by, diff)
			}
		}
	}
}

func largeBy(t *testing.T, o *Object, by apply.Applier, mutator Mutator) *Request {
	t.Helper()
	a := ask("CREATE", o, nil)
	a.Applier, a.Mutator = by, mutator
	req, _, err := open(t).Prepare(t.Context(), a)
	if err != nil {
		t.Fatalf("%s: %v", by, err)
	}
	return req
}
