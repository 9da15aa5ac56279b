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
	e.Add(a, settled.Work{Validations: 3, Cost: 1 << 40})
	e.Add(b, settled.Work{})
	if err := e.Save(); err != nil {
		t.Fatal(err)
	}
	again := settled.Open(file)
	if work, ok := again.Find(a); !ok || work != (settled.Work{Validations: 3, Cost: 1 << 40}) || again.Len() != 2 {
		t.Errorf("found %v %v of %d", work, ok, again.Len())
	}
	if e.Read() || !again.Read() {
		t.Errorf("read from another process: %v of the first, %v of the second", e.Read(), again.Read())
	}
	c, _ := settled.KeyOf("c")
	if _, ok := again.Find(c); ok {
		t.Error("found what was not added")
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
	if err := os.WriteFile(file, data[:len(data)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if half := settled.Open(file); half.Len() != 0 {
		t.Errorf("%d evaluations of half a file", half.Len())
	}
	lost := settled.Open(filepath.Join(t.TempDir(), "no", "such", "directory"))
	lost.Add(a, settled.Work{})
	if err := lost.Save(); err == nil {
		t.Error("no error of a file that cannot be written")
	}
	var none *settled.Evaluations
	if err := none.Save(); err != nil {
		t.Error(err)
	}
}
