package tree

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestResolveNames: an error about a path has the reason why it cannot be used.
func TestResolveNames(t *testing.T) {
	files := New(fstest.MapFS{"a/b.yaml": {}}, Limits{})
	for name, want := range map[string]string{
		"a/b\xff.yaml": `the name "a/b\xff.yaml" is not valid UTF-8`,
		"../b.yaml":    "../b.yaml leads out of the repository",
		"a/c.yaml":     "file does not exist",
	} {
		if got := files.Resolve(name).Err; got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%q: %v, want %s", name, got, want)
		}
	}
}
