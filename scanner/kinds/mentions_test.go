package kinds

import (
	"bytes"
	"testing"
	"testing/fstest"
)

func TestFileMentionsPolicy(t *testing.T) {
	tree := fstest.MapFS{
		"policy.yaml":  {Data: []byte("kind: ValidatingAdmissionPolicy\n")},
		"binding.json": {Data: []byte(`{"kind": "ValidatingAdmissionPolicyBinding"}`)},
		"broken.yaml":  {Data: []byte("kind: ValidatingAdmissionPolicy\n\tspec: {")},
		"other.yaml":   {Data: []byte("kind: Policy\n")},
		"many.yaml":    {Data: append(bytes.Repeat([]byte("x: y\n---\n"), 400_000), "kind: ValidatingAdmissionPolicy\n"...)},
		"large.yaml":   {Data: bytes.Repeat([]byte("x"), largestFile+1)},
		"large.bin":    {Data: bytes.Repeat([]byte("x"), largestFile+1)},
	}
	for name, want := range map[string]bool{
		"policy.yaml": true, "binding.json": true, "broken.yaml": true,
		"other.yaml": false, "many.yaml": true, "large.yaml": true, "large.bin": false, "missing.yaml": false, ".": false,
	} {
		if got := FileMentionsPolicy(tree, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
