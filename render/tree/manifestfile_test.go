package tree

import "testing"

// TestEqualDocuments checks that a document is decoded once for all files that have it, and that errors keep their
// places.
func TestEqualDocuments(t *testing.T) {
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	cache := new(fileCache)
	decode := func(name, text string) *ManifestFile { return cache.newManifestFile(name, []byte(text)) }
	first, second := decode("a.yaml", text), decode("b.yaml", "---\n# another line\n---\n"+text)
	if a, b := first.Documents[0].Objects[0].Json, second.Documents[1].Objects[0].Json; &a[0] != &b[0] {
		t.Errorf("the document was decoded again: %s", b)
	}
	for name, want := range map[string]string{"a.yaml": "a.yaml:2", "b.yaml": "b.yaml:2"} {
		if bad := decode(name, "---\n{a: 1, a: 2}\n").Documents[0].Bad; bad == nil || bad.String() != want {
			t.Errorf("the error of a repeated key is at %v, want %s", bad, want)
		}
	}
}
