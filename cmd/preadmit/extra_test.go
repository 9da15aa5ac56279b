package main

import (
	"testing"
	"testing/fstest"
)

func TestLoneFile(t *testing.T) {
	if err := fstest.TestFS(&loneFile{name: "a.yaml", data: []byte("kind: List\n")}, "a.yaml"); err != nil {
		t.Error(err)
	}
}
