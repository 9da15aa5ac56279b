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
		"large.yaml":   {Data: append([]byte("kind: ValidatingAdmissionPolicy\n#"), bytes.Repeat([]byte("x"), largestManifest)...)},
	}
	for name, want := range map[string]bool{
		"policy.yaml": true, "binding.json": true, "broken.yaml": true,
		"other.yaml": false, "large.yaml": false, "missing.yaml": false, ".": false,
	} {
		if got := FileMentionsPolicy(tree, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
