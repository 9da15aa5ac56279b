package scanner_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/tree/treetest"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// TestTestsAreNoRoots checks that the manifests of tests of Chainsaw, kuttl and Kyverno, and files in directories
// named testdata, are neither judged nor used to judge, that a change of them is reported, and that they do not hide
// what was deployed before.
func TestTestsAreNoRoots(t *testing.T) {
	partial := &fstest.MapFile{Data: []byte(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
`)}
	bad := &fstest.MapFile{Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: bad, namespace: default}, data: {a: 1}}")}
	good := &fstest.MapFile{Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: good, namespace: default}}")}
	marker := &fstest.MapFile{Data: []byte("{apiVersion: chainsaw.kyverno.io/v1alpha1, kind: Test, metadata: {name: t}}")}
	tests := func(policy string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("{apiVersion: cli.kyverno.io/v1alpha1, kind: Test, metadata: {name: t}, policies: [" + policy + "], resources: [bad.yaml]}")}
	}
	lists := func(names string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("resources: [" + names + "]\n")}
	}
	const aTest = "not judged: is a test of Chainsaw, kuttl or Kyverno, which applies nothing to this cluster: it is not judged, and judges nothing"
	const testData = "not judged: is test data, going by its name: it is not judged, and judges nothing, unless its path or --roots names it"
	modules := &fstest.MapFile{Data: []byte("# example.com/a v1.0.0\n")}
	const copied = "not judged: is a copy of Go modules: it is not judged, and judges nothing, unless its path or --roots names it"
	for name, c := range map[string]struct {
		base, head             fstest.MapFS
		under, roots, policies []string
		want                   []string
	}{
		"test": {head: fstest.MapFS{"app/.chainsaw-test/one/chainsaw-test.yaml": marker, "app/.chainsaw-test/assert.yaml": partial, "app/.chainsaw-test/resources/bad.yaml": bad},
			want: []string{"app/.chainsaw-test " + aTest}},
		"without a dot": {head: fstest.MapFS{"e2e/one/chainsaw-test.yml": marker, "e2e/one/below/bad.yaml": bad, "e2e/two/03-assert.yaml": bad, "e2e/good.yaml": good},
			want: []string{"e2e/one " + aTest, "e2e/two " + aTest}},
		"of Kyverno": {head: fstest.MapFS{"policies/.kyverno-test/kyverno-test.yaml": tests("../p.yaml"), "policies/.kyverno-test/bad.yaml": bad, "policies/p.yaml": good, "tests/one/kyverno-test.yml": tests("../../policies"), "tests/one/below/bad.yaml": bad},
			want: []string{"policies/.kyverno-test " + aTest, "tests/one " + aTest}},
		"of Kyverno beside its policies": {head: fstest.MapFS{"policies/kyverno-test.yaml": tests("p.yaml"), "policies/p.yaml": bad}, want: []string{"policies/p.yaml denied"}},
		"what a test uses": {head: fstest.MapFS{"e2e/chainsaw-test.yaml": marker, "e2e/kustomization.yaml": lists("../app"), "app/kustomization.yaml": lists("bad.yaml"), "app/bad.yaml": bad},
			want: []string{"app/bad.yaml denied", "e2e " + aTest}},
		"what uses a test": {head: fstest.MapFS{"e2e/chainsaw-test.yaml": marker, "e2e/bad.yaml": bad, "app/kustomization.yaml": lists("../e2e/bad.yaml")},
			want: []string{"e2e " + aTest, "e2e/bad.yaml denied"}},
		"as it was": {base: fstest.MapFS{"e2e/chainsaw-test.yaml": marker, "e2e/bad.yaml": bad}, head: fstest.MapFS{"e2e/chainsaw-test.yaml": marker, "e2e/bad.yaml": bad, "app/good.yaml": good},
			want: []string{"e2e untouched " + aTest}},
		"hidden as a test": {base: fstest.MapFS{"app/x.yaml": good}, head: fstest.MapFS{"app/x.yaml": bad, "app/chainsaw-test.yaml": marker},
			want: []string{"app " + aTest, "app/x.yaml denied"}},
		"test data": {head: fstest.MapFS{"app/testdata/one/bad.yaml": bad, "app/testdata/two/bad.yaml": bad, "app/good.yaml": good, "app/testdata/golden.txt": good},
			want: []string{"app/testdata " + testData}},
		"no manifests in test data": {head: fstest.MapFS{"testdata/a.json": {Data: []byte("{}")}, "app/good.yaml": good}},
		"what uses test data":       {head: fstest.MapFS{"testdata/bad.yaml": bad, "app/kustomization.yaml": lists("../testdata/bad.yaml")}, want: []string{"testdata " + testData, "testdata/bad.yaml denied"}},
		"asked for test data": {under: []string{"testdata/one"}, head: fstest.MapFS{"testdata/one/below/bad.yaml": bad, "testdata/two/bad.yaml": bad},
			want: []string{"testdata/one/below/bad.yaml denied"}},
		"asked for a file of test data": {under: []string{"testdata/one/bad.yaml"}, head: fstest.MapFS{"testdata/one/bad.yaml": bad, "testdata/two/bad.yaml": bad},
			want: []string{"testdata/one/bad.yaml denied"}},
		"glob of test data":     {roots: []string{"testdata/*"}, head: fstest.MapFS{"testdata/one/bad.yaml": bad}, want: []string{"testdata/one/bad.yaml denied"}},
		"policies of test data": {policies: []string{"testdata/one"}, head: fstest.MapFS{"testdata/one/bad.yaml": bad, "app/good.yaml": good}, want: []string{"testdata/one/bad.yaml denied"}},
		"moved to test data": {base: fstest.MapFS{"app/x.yaml": good, "app/y.yaml": good}, head: fstest.MapFS{"app/testdata/x.yaml": bad, "app/y.yaml": good},
			want: []string{"app/testdata " + testData}},
		"copies of Go modules": {head: fstest.MapFS{"go/vendor/modules.txt": modules, "go/vendor/example.com/a/bad.yaml": bad, "go/good.yaml": good},
			want: []string{"go/vendor " + copied}},
		"what uses copies of Go modules": {head: fstest.MapFS{"vendor/modules.txt": modules, "vendor/a/bad.yaml": bad, "app/kustomization.yaml": lists("../vendor/a/bad.yaml")},
			want: []string{"vendor " + copied, "vendor/a/bad.yaml denied"}},
		"asked for copies of Go modules": {under: []string{"vendor/a"}, head: fstest.MapFS{"vendor/modules.txt": modules, "vendor/a/bad.yaml": bad, "vendor/b/bad.yaml": bad},
			want: []string{"vendor/a/bad.yaml denied"}},
		"other copies": {head: fstest.MapFS{"vendor/a/bad.yaml": bad}, want: []string{"vendor/a/bad.yaml denied"}},
		"hidden as copies of Go modules": {base: fstest.MapFS{"vendor/x.yaml": good}, head: fstest.MapFS{"vendor/x.yaml": bad, "vendor/modules.txt": modules},
			want: []string{"vendor " + copied, "vendor/x.yaml denied"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := scanner.Input{Head: scanner.Tree{FS: treetest.Name(c.head), Under: c.under}, Config: config.Config{Roots: c.roots, Policies: c.policies}}
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
				if i.What != "test" && i.What != "test data" {
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

// TestScanOfADirectoryRendersWhatJudgesIt checks that a scan of a directory, in a repository with test data, renders
// only that directory and roots with possible deciding objects.
func TestScanOfADirectoryRendersWhatJudgesIt(t *testing.T) {
	const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default}}"
	policy := func(name string) string {
		return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %s}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "true"}]
`, name)
	}
	files := fstest.MapFS{"app/c.yaml": {Data: []byte(configMap)}, "policies/p.yaml": {Data: []byte(policy("p"))}}
	for i := range 20 {
		files[fmt.Sprintf("other/%d/c.yaml", i)] = &fstest.MapFile{Data: []byte(configMap)}
		files[fmt.Sprintf("pkg/testdata/%d/p.yaml", i)] = &fstest.MapFile{Data: []byte(policy("p"))}
	}
	rendered := map[string]bool{}
	r, err := scanner.Scan(t.Context(), scanner.Input{
		Head: scanner.Tree{FS: treetest.Name(files), Under: []string{"app"}}, Workers: 1,
		Rendering: func(root, _ string) (done func()) { rendered[root] = true; return func() {} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]bool{"app": true, "policies": true}, rendered); d != "" {
		t.Errorf("rendered roots:\n%s", d)
	}
	if r.Summary.Policies != 1 || r.Summary.Requests != 1 {
		t.Errorf("%d policies, %d requests, want 1 of each", r.Summary.Policies, r.Summary.Requests)
	}
}
