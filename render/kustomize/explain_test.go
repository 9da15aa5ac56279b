package kustomize

import "testing"

// TestSentence checks that kustomize's messages about its own progress are left out.
func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		`accumulating resources: accumulation err='accumulating resources from 'web.yaml': web.yaml: bad document': must build at directory: '/repo/web.yaml': file is not directory`: "web.yaml: bad document",
		`accumulating components: accumulateDirectory: recursed accumulation of path 'x/y': no matches for Id Deployment`:                                                             "no matches for Id Deployment",
		`invalid Kustomization: yaml: invalid map key: map[interface {}]interface {}{"a":interface {}(nil)}`:                                                                          "invalid YAML: a mapping is the key of another, as of {{ }} that is not quoted",
		"namespace transformation produces ID conflict": "namespace transformation produces ID conflict",
	} {
		if got := sentence(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
}
