package tree

import (
	"testing"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// TestErrorLine checks that a syntax error of a document is on the line that kubectl cannot read, whether it is one of
// YAML's parser or of its scanner, and that no line is below the text.
func TestErrorLine(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n"
	for text, want := range map[string]int{
		"  name: a\n foo: b\n":                  5,
		"  name: a\nx:\n- a\n b: c\n":           7,
		"  name: a\nx:\n - a\n b: c\n":          7,
		"  name: a\nx: [a,\n  b\ny: c\n":        7,
		"  name: a\nx: {a: b\ny: c\n":           6,
		"  name: a\nx: [a\n":                    5,
		"  name: a\nx: [a\n\n\n":                5,
		"  name: a: b\n":                        4,
		"  name: a\n\tx: b\n":                   5,
		"  name: @a\n":                          4,
		"  name: a # \u2028\n foo: b\n":         5,
		"  name: \"a\u2028\u2028b\"\n foo: b\n": 5,
	} {
		file := new(fileCache).newManifestFile("x.yaml", []byte("# first\n---\n"+head+text))
		if len(file.Documents) != 2 || file.Documents[1].Bad == nil {
			t.Fatalf("%q: %+v, want an error", text, file)
		}
		if got := file.Documents[1].Bad.Line; got != want+2 {
			t.Errorf("%q: line %d, want %d: %s", text, got-2, want, file.Documents[1].Bad.Message)
		}
	}
}

// TestErrorLineIn checks that the line of a syntax error is the one at fault, whichever version of the parser returns the
// error.
func TestErrorLineIn(t *testing.T) {
	for text, want := range map[string]int{
		"# a\nb: c\nd:\n  e: f\n g: h\n":             5,
		"# a\nb:\n- c: d\n  e: f\n g: h\n":           5,
		"a:\n- b\nc:\n  - d: e\n  - f: g\n - h: i\n": 6,
		"a: b\nc:\n  d: {e: f\n  g: h\n":             4,
		"a: b\nc:\n\td: e\n":                         3,
		"a: b\n  c: d\n":                             2,
		"a: b\nc\nd: e\n":                            2,
		"\"a\nb: c\n":                                1,
		"a: b\nc: \"d\ne: f\n":                       2,
		"a: 'b\nc: d\n":                              1,
		"# \u2028\na: 'b\nc: d\n":                    2,
	} {
		_, two := sigsyaml.YAMLToJSON([]byte(text))
		three := yaml.Unmarshal([]byte(text), new(yaml.Node))
		for _, err := range []error{two, three} {
			if got := ErrorLineIn([]byte(text), err); got != want {
				t.Errorf("%q: line %d, want %d: %v", text, got, want, err)
			}
		}
	}
}
