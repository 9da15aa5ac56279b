package scanner_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/tree/treetest"
	"github.com/preadmit/preadmit/scanner"
)

// TestTestsAreNoRoots: what a test of Chainsaw or kuttl applies and expects is not deployed,
// nor does it judge, but a change to it does not pass in silence, and does not hide what was
// deployed before.
func TestTestsAreNoRoots(t *testing.T) {
	partial := &fstest.MapFile{Data: []byte(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
`)}
	bad := &fstest.MapFile{Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: bad, namespace: default}, data: {a: 1}}")}
	good := &fstest.MapFile{Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: good, namespace: default}}")}
	marker := &fstest.MapFile{Data: []byte("{apiVersion: chainsaw.kyverno.io/v1alpha1, kind: Test, metadata: {name: t}}")}
	lists := func(names string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("resources: [" + names + "]\n")}
	}
	const aTest = "not judged: is a test of Chainsaw or kuttl, which runs in a cluster of its own: it is not judged, and judges nothing"
	for name, c := range map[string]struct {
		base, head fstest.MapFS
		want       []string
	}{
		"test": {head: fstest.MapFS{"app/.chainsaw-test/one/chainsaw-test.yaml": marker, "app/.chainsaw-test/assert.yaml": partial, "app/.chainsaw-test/resources/bad.yaml": bad},
			want: []string{"app/.chainsaw-test " + aTest}},
		"without a dot": {head: fstest.MapFS{"e2e/one/chainsaw-test.yml": marker, "e2e/one/below/bad.yaml": bad, "e2e/two/03-assert.yaml": bad, "e2e/good.yaml": good},
			want: []string{"e2e/one " + aTest, "e2e/two " + aTest}},
		"what a test uses": {head: fstest.MapFS{"e2e/chainsaw-test.yaml": marker, "e2e/kustomization.yaml": lists("../app"), "app/kustomization.yaml": lists("bad.yaml"), "app/bad.yaml": bad},
			want: []string{"app/bad.yaml denied", "e2e " + aTest}},
		"what uses a test": {head: fstest.MapFS{"e2e/chainsaw-test.yaml": marker, "e2e/bad.yaml": bad, "app/kustomization.yaml": lists("../e2e/bad.yaml")},
			want: []string{"e2e " + aTest, "e2e/bad.yaml denied"}},
		"as it was": {base: fstest.MapFS{"e2e/chainsaw-test.yaml": marker, "e2e/bad.yaml": bad}, head: fstest.MapFS{"e2e/chainsaw-test.yaml": marker, "e2e/bad.yaml": bad, "app/good.yaml": good},
			want: []string{"e2e untouched " + aTest}},
		"hidden as a test": {base: fstest.MapFS{"app/x.yaml": good}, head: fstest.MapFS{"app/x.yaml": bad, "app/chainsaw-test.yaml": marker},
			want: []string{"app " + aTest, "app/x.yaml denied"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := scanner.Input{Head: scanner.Tree{FS: treetest.Name(c.head)}}
			if c.base != nil {
				in.Base = &scanner.Tree{FS: treetest.Name(c.base)}
			}
			r, err := scanner.Scan(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, i := range r.Indeterminate {
				is := ""
				if i.What != "test" {
					continue
				}
				if i.Untouched {
					is = "untouched "
				}
				seen[fmt.Sprintf("%s %snot judged: %s", i.Location.Path, is, i.Why)] = true
			}
			for _, f := range r.Findings {
				seen[f.Location.Path+" denied"] = true
			}
			got := map[string]bool{}
			for _, line := range c.want {
				got[line] = true
			}
			if d := cmp.Diff(got, seen); d != "" {
				t.Error(d)
			}
		})
	}
}
