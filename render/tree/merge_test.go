package tree

import (
	"bytes"
	"strings"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// TestKeysBesideMergeKeys checks that a key overrides a merged one, as in the decoder of kubectl and Argo CD, and that
// a duplicate key is still an error.
func TestKeysBesideMergeKeys(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for text, wantBad := range map[string]bool{
		"x: &x {a: '1', b: '2'}\ndata:\n  <<: *x\n  a: '3'\n":                         false,
		"x: &x {a: '1', b: '2'}\ndata:\n  a: '3'\n  <<: *x\n":                         false,
		"x: &x {a: '1'}\ny: &y {a: '2', b: '2'}\ndata: {<<: [*x, *y]}\n":              false,
		"x: &x {a: '1'}\ndata:\n  <<: *x\n  b: '3'\n  b: '4'\n":                       true,
		"x: &x {a: '1'}\nmetadata: {name: b}\ndata:\n  <<: *x\n  a: '3'\n":            true,
		"data:\n  # <<: a comment\n  a: '3'\n  a: '4'\n":                              true,
		"x: &x {a: &y {c: '1'}}\ndata:\n  <<: *x\n  a: {<<: *y, c: '2'}\n":            false,
		"x: &x {a: '1'}\ndata:\n  <<: *x\n  a: '3'\nstringData:\n  ? {a: 1}\n  : b\n": true,
	} {
		text = head + text
		f := new(fileCache).newManifestFile("a.yaml", []byte(text))
		if len(f.Documents) != 1 {
			t.Fatalf("%d documents of\n%s", len(f.Documents), text)
		}
		d := f.Documents[0]
		if (d.Bad != nil) != wantBad {
			t.Errorf("bad: %v, of\n%s", d.Bad, text)
		}
		if wantBad {
			continue
		}
		var want map[string]any
		if err := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096).Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := d.Objects[0].Json; !bytes.Equal(got, Encode(want)) {
			t.Errorf("%s, and kubectl decodes to %s, of\n%s", got, Encode(want), text)
		}
	}
}
