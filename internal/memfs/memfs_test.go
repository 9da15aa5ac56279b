package memfs_test

import (
	"io"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/internal/memfs"
)

// TestOneFile checks a tree of one file with testing/fstest.
func TestOneFile(t *testing.T) {
	if err := fstest.TestFS(memfs.OneFile("a.yaml", []byte("a: 1")), "a.yaml"); err != nil {
		t.Error(err)
	}
}

func TestReadOfADirectory(t *testing.T) {
	dir, err := memfs.OneFile("a.yaml", nil).Open(".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("a directory was read: %v", err)
	}
}
