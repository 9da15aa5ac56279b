package tree

import "testing"

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
		file := newManifestFile("x.yaml", []byte("# first\n---\n"+head+text))
		if len(file.Documents) != 2 || file.Documents[1].Bad == nil {
			t.Fatalf("%q: %+v, want an error", text, file)
		}
		if got := file.Documents[1].Bad.Line; got != want+2 {
			t.Errorf("%q: line %d, want %d: %s", text, got-2, want, file.Documents[1].Bad.Message)
		}
	}
}
