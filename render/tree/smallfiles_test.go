package tree

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// opened counts how often files are opened.
type opened struct {
	fs.FS
	count map[string]int
}

func (o *opened) Open(name string) (fs.File, error) {
	o.count[name]++
	return o.FS.Open(name)
}

func TestSmallFilesAreReadOnce(t *testing.T) {
	files := &opened{count: map[string]int{}, FS: fstest.MapFS{
		"small.yaml": {Data: []byte("a: b\n")},
		"large.yaml": {Data: []byte(strings.Repeat("#", keptFile) + "\na: b\n")},
	}}
	tree := New(files, Limits{})
	for _, test := range []struct {
		name string
		want int
	}{{"small.yaml", 1}, {"large.yaml", 2}, {"missing.yaml", 2}} {
		first, err := tree.Read(test.name)
		_ = append(first, "not of the file"...) // callers may do this
		again, errAgain := tree.Read(test.name)
		if (err == nil) != (errAgain == nil) || err == nil && !strings.HasSuffix(string(again), "a: b\n") {
			t.Errorf("%s: read %q, %v; the first time %v", test.name, again, errAgain, err)
		}
		if got := files.count[test.name]; got != test.want {
			t.Errorf("%s was opened %d times, want %d", test.name, got, test.want)
		}
	}
}

func TestSmallFilesAreBounded(t *testing.T) {
	var kept smallFiles
	content := make([]byte, keptFile)
	for i := range 2 * keptBytes / keptFile {
		kept.keep(string(rune(i)), content)
	}
	if kept.size > keptBytes+2*keptFile || len(kept.files) < keptBytes/keptFile/2 {
		t.Errorf("%d bytes of %d files are kept, want %d bytes", kept.size, len(kept.files), keptBytes)
	}
}
