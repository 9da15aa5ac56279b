package settled_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// TestKeyOf: different values have different keys, and equal values have equal keys.
func TestKeyOf(t *testing.T) {
	keys := map[settled.Key]int{}
	key, err := settled.KeyOf("x")
	if err != nil {
		t.Fatal(err)
	}
	lists := [][]any{
		{}, {nil}, {nil, nil}, {true}, {false}, {"a"}, {"a", "b"}, {"ab"}, {"", "ab"}, {int64(1)}, {int64(-1)}, {float64(1)}, {"1"}, {key}, {string(key[:])},
		{[]any{}}, {[]any{nil}}, {[]any{"a", "b"}}, {[]any{"a"}, "b"}, {[]any{[]any{"a"}, "b"}}, {[]any{[]any{"a", "b"}}},
		{map[string]any{}}, {map[string]any{"a": nil}}, {map[string]any{"a": "b"}}, {map[string]any{"a": "b", "c": "d"}}, {map[string]any{"a": map[string]any{"b": "c"}}},
		{map[string]any{"a": "b"}, map[string]any{"c": "d"}}, {map[string]any{"ab": ""}}, {map[string]any{"a": []any{}}}, {map[string]any{"a": map[string]any{}}},
	}
	for range 3 { // maps are iterated over in random order
		for i, values := range lists {
			key, err := settled.KeyOf(values...)
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := keys[key]; ok && other != i {
				t.Errorf("%v has the key of %v", values, lists[other])
			}
			keys[key] = i
		}
	}
	if len(keys) != len(lists) {
		t.Errorf("%d keys of %d lists", len(keys), len(lists))
	}
	for _, value := range []any{1, []string{"a"}, map[string]any{"a": uint8(1)}, []any{struct{}{}}} {
		if _, err := settled.KeyOf(value); err == nil {
			t.Errorf("%#v has a key", value)
		}
	}
}

// TestSave: another process finds the saved evaluations, and none in an incomplete file.
func TestSave(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settled")
	a, _ := settled.KeyOf("a")
	b, _ := settled.KeyOf("b")
	e := settled.Open(file)
	if err := e.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file of nothing was written")
	}
	of := e.Of(a)
	of.Add(a, settled.Work{Validations: 3, Cost: 1 << 40})
	of.Add(b, settled.Work{})
	e.Of(b).Add(a, settled.Work{Validations: 4})
	if err := e.Save(); err != nil {
		t.Fatal(err)
	}
	again := settled.Open(file)
	for _, key := range []settled.Key{a, b, a, a} { // in any order
		if _, ok := again.Of(a).Find(key); !ok {
			t.Errorf("%x is not found", key)
		}
	}
	if work, ok := again.Of(a).Find(a); !ok || work != (settled.Work{Validations: 3, Cost: 1 << 40}) || again.Len() != 3 {
		t.Errorf("found %v %v of %d", work, ok, again.Len())
	}
	if work, ok := again.Of(b).Find(a); !ok || work.Validations != 4 {
		t.Errorf("of another request: found %v %v", work, ok)
	}
	if e.Read() || !again.Read() {
		t.Errorf("read from another process: %v of the first, %v of the second", e.Read(), again.Read())
	}
	c, _ := settled.KeyOf("c")
	for _, request := range []settled.Key{a, b, c} {
		if _, ok := again.Of(request).Find(c); ok {
			t.Error("found what was not added")
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Save(); err != nil {
		t.Fatal(err)
	}
	if same, err := os.ReadFile(file); err != nil || !bytes.Equal(data, same) {
		t.Errorf("nothing was added, and the file is another one: %v", err)
	}
	for cut := 1; cut < len(data); cut++ {
		if err := os.WriteFile(file, data[:len(data)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if part := settled.Open(file); part.Len() == 3 || part.Len() > 0 && !part.Read() {
			t.Errorf("%d evaluations of a file without its last %d bytes", part.Len(), cut)
		}
	}
	lost := settled.Open(filepath.Join(t.TempDir(), "no", "such", "directory"))
	lost.Of(a).Add(a, settled.Work{})
	if err := lost.Save(); err == nil {
		t.Error("no error of a file that cannot be written")
	}
	var none *settled.Evaluations
	if err := none.Save(); err != nil {
		t.Error(err)
	}
}
