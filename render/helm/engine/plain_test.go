package engine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Masterminds/sprig/v3"
	"helm.sh/helm/v4/pkg/chart/common"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render/helm/engine"
)

// randomValues returns random values of templates, some of which JSON or YAML write in another form.
type randomValues struct{ *rand.Rand }

var (
	texts = []any{
		"", "web", "a b", " a ", "yes", "0x1f", "1e3", "0777", "1_000", "<<", "~", "null", "a: b", "# c", "- x", "\ta", "a\nb\n", "a\n\n", "\n", "'q'", `"q"`, `\n`, "{{ .Values }}", "<a&b>",
		"2026-01-02", "=", "é", "\u0085", "a\u2028b", "\x7f", "\x00", "\r\n", "\xff", "\ufeff", "😀", strings.Repeat("long ", 50), strings.Repeat("k", 1500),
	}
	scalars = []any{
		nil, true, false, 0, 1, -7, int64(8080), int64(math.MaxInt64), uint64(math.MaxUint64), int32(5), 0.0, 1.0, 65534.0, 999999.0, 1e6, 12345678.0, 0.5, -3.0, 1e21, math.Copysign(0, -1),
		json.Number("1.50"), time.Duration(5), time.Unix(0, 0).UTC(), []string{"a", "b"}, []string(nil), map[string]string{"a": "b"}, map[string]any(nil), []any(nil), common.Values(nil),
	}
)

func (v randomValues) value(depth int) any {
	switch n := v.IntN(10); {
	case n < 3 && depth > 0:
		m := map[string]any{}
		for range v.IntN(4) {
			m[v.text(6)] = v.value(depth - 1)
		}
		if v.IntN(8) == 0 {
			return common.Values(m)
		}
		return m
	case n < 5 && depth > 0:
		list := make([]any, 0, 4)
		for range v.IntN(4) {
			list = append(list, v.value(depth-1))
		}
		return list
	case n < 8:
		return v.text(3)
	}
	if v.IntN(3) > 0 {
		return scalars[v.IntN(5)]
	}
	return scalars[v.IntN(len(scalars))]
}

// text returns mostly a usual text.
func (v randomValues) text(usual int) string {
	if v.IntN(usual) > 0 {
		return texts[v.IntN(4)].(string)
	}
	return texts[v.IntN(len(texts))].(string)
}

// TestQuickFunctions compares toYaml, deepCopy, fromYaml and the sizes of random values with the libraries
// that these replace.
func TestQuickFunctions(t *testing.T) {
	copied := sprig.TxtFuncMap()["deepCopy"].(func(any) any)
	fromYAML := engine.FromYAML()
	written, copies, wide := 0, 0, 0
	for seed := range uint64(testall.Count(4000, 20_000)) {
		v := randomValues{rand.New(rand.NewPCG(seed, 1))}.value(4)
		if text, ok := engine.PlainYAML(v); ok {
			written++
			if want, err := yaml.Marshal(v); err != nil || text != string(want) {
				t.Fatalf("toYaml of %#v is %q, want %q, %v", v, text, want, err)
			}
		}
		if made, ok := engine.CopyPlain(v); ok {
			copies++
			if want := copied(v); !reflect.DeepEqual(made, want) {
				t.Fatalf("the copy of %#v is %#v, want %#v", v, made, want)
			}
		}
		for _, limit := range []int{0, 200, 50} {
			size, reflected := engine.Sizes(v, limit)
			if size != reflected {
				t.Fatalf("the size of %#v is %d, want %d", v, size, reflected)
			}
			if limit > 0 && size > limit {
				wide++
			}
		}
		text, _ := yaml.Marshal(v)
		for range 2 {
			want := map[string]any{}
			if err := yaml.Unmarshal(text, &want); err != nil {
				want["Error"] = err.Error()
			}
			got, err := fromYAML(string(text))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("fromYaml of %q is %#v, want %#v, %v", text, got, want, err)
			}
			change(got)
		}
	}
	t.Logf("%d written, %d copied, %d too large", written, copies, wide)
	if written < 1_000 || copies < 1_000 || wide < 1_000 {
		t.Error("too few values took the quick ways")
	}
}

// change changes everything in a value.
func change(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			change(item)
			v[key] = fmt.Sprint(key, " changed")
		}
	case []any:
		for i, item := range v {
			change(item)
			v[i] = "changed"
		}
	}
}
