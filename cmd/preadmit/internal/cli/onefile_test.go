package cli

import (
	"testing"
	"testing/fstest"
)

func TestLoneFile(t *testing.T) {
	if err := fstest.TestFS(&OneFile{Name: "a.yaml", Data: []byte("kind: List\n")}, "a.yaml"); err != nil {
		t.Error(err)
	}
}
