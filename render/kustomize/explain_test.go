package kustomize

import (
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

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

// TestMentionedEntry checks that an entry is found by its text in quotes, and not by the absence of a text.
func TestMentionedEntry(t *testing.T) {
	c := build.Walk(tree.New(fstest.MapFS{
		"kustomization.yaml": {Data: []byte("resources: [a.yaml]\npatchesJson6902:\n- {target: {name: a}, patch: ab}\ncrds: ['']\n")},
		"a.yaml":             {Data: []byte("{}")},
	}, tree.Limits{}), ".", tree.NewTrace())
	for failure, want := range map[string]string{
		"cannot use 'a.yaml'":   "kustomization.yaml:1:13",
		`cannot use "a.yaml"`:   "kustomization.yaml:1:13",
		`decoding "ab": failed`: "kustomization.yaml:3:30",
		"decoding 'ab': failed": "",
		`no namespace ""`:       "",
		"no namespace ''":       "",
	} {
		if at, _, ok := mentionedEntry(failure, c); ok != (want != "") || ok && at.String() != want {
			t.Errorf("%s: found %v at %s, want %q", failure, ok, at, want)
		}
	}
}
