package decoded_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/decoded"
)

// TestKeyOf: different kinds and bodies have different keys.
func TestKeyOf(t *testing.T) {
	keys := map[decoded.Key]bool{}
	for _, in := range [][2]string{{"", ""}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab", ""}, {"1:a", ""}, {"", "1:a"}} {
		key := decoded.KeyOf(in[0], []byte(in[1]))
		if keys[key] {
			t.Errorf("%q has the key of another", in)
		}
		if keys[key] = true; key != decoded.KeyOf(in[0], []byte(in[1])) {
			t.Errorf("%q has two keys", in)
		}
	}
}

// TestSave: another process finds the saved objects, and none in an incomplete file.
func TestSave(t *testing.T) {
	file := filepath.Join(t.TempDir(), "decoded")
	a, b := decoded.KeyOf("a", nil), decoded.KeyOf("b", nil)
	o := decoded.Open(file)
	if err := o.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file of nothing was written")
	}
	o.Add(a, []byte("one"))
	o.Add(b, nil)
	if err := o.Save(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := decoded.Open(file)
	for key, want := range map[decoded.Key]string{a: "one", b: ""} {
		if got, ok := again.Find(key); !ok || !bytes.Equal(got, []byte(want)) {
			t.Errorf("found %q %v, want %q", got, ok, want)
		}
	}
	if _, ok := again.Find(decoded.KeyOf("c", nil)); ok {
		t.Error("found what was not added")
	}
	for cut := 1; cut < len(data); cut++ {
		if err := os.WriteFile(file, data[:len(data)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		part := decoded.Open(file)
		one, first := part.Find(a)
		_, second := part.Find(b)
		if first && second || first && string(one) != "one" {
			t.Errorf("without the last %d bytes: %v %q %v", cut, first, one, second)
		}
	}
	lost := decoded.Open(filepath.Join(t.TempDir(), "no", "such", "directory"))
	lost.Add(a, nil)
	if err := lost.Save(); err == nil {
		t.Error("no error of a file that cannot be written")
	}
	var none *decoded.Objects
	if err := none.Save(); err != nil {
		t.Error(err)
	}
}
