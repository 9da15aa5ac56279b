package scanner_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/tree/treetest"
	"github.com/preadmit/preadmit/scanner"
)

// TestDotDirectories checks that files in a directory whose name begins with a dot are judged like
// others.
func TestDotDirectories(t *testing.T) {
	policy := &fstest.MapFile{Data: []byte(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ["*"], resources: [deployments]}]
  validations: [{expression: "object == null ? oldObject.metadata.name != 'kept' : object.spec.replicas < 3"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few, validationActions: [Deny]}
`)}
	deployment := func(name, replicas string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `, namespace: apps}
spec:
  replicas: ` + replicas + `
  selector: {matchLabels: {app: x}}
  template: {metadata: {labels: {app: x}}, spec: {containers: [{name: x, image: x:1}]}}
`)}
	}
	lists := func(names string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("resources: [" + names + "]\n")}
	}
	many, few, kept := deployment("x", "9"), deployment("x", "1"), deployment("kept", "1")
	for name, c := range map[string]struct {
		base, head fstest.MapFS
		want       []string
	}{
		"kustomization": {head: fstest.MapFS{".deploy/kustomization.yaml": lists("x.yaml"), ".deploy/x.yaml": many},
			want: []string{"CREATE .deploy .deploy/x.yaml:5"}},
		"manifests": {head: fstest.MapFS{".deploy/x.yaml": many},
			want: []string{"CREATE .deploy .deploy/x.yaml:5"}},
		"below a directory": {head: fstest.MapFS{"apps/.prod/kustomization.yaml": lists("x.yaml"), "apps/.prod/x.yaml": many},
			want: []string{"CREATE apps/.prod apps/.prod/x.yaml:5"}},
		"below a plain root": {head: fstest.MapFS{"apps/a.yaml": few, "apps/.h/i/x.yaml": deployment("other", "9")},
			want: []string{"CREATE apps/.h/i apps/.h/i/x.yaml:5"}},
		"overlay": {head: fstest.MapFS{".deploy/base/kustomization.yaml": lists("x.yaml"), ".deploy/base/x.yaml": many, ".deploy/prod/kustomization.yaml": lists("../base")},
			want: []string{"CREATE .deploy/prod .deploy/base/x.yaml:5"}},
		"moved": {base: fstest.MapFS{"app/kustomization.yaml": lists("x.yaml"), "app/x.yaml": few}, head: fstest.MapFS{".app/kustomization.yaml": lists("x.yaml"), ".app/x.yaml": many},
			want: []string{"UPDATE .app .app/x.yaml:5"}},
		"moved as it is": {base: fstest.MapFS{"app/x.yaml": kept}, head: fstest.MapFS{".app/x.yaml": kept}},
		"deleted": {base: fstest.MapFS{".app/x.yaml": kept},
			want: []string{"DELETE .app .app/x.yaml:3"}},
		"of git": {head: fstest.MapFS{".git/x.yaml": many}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, tree := range []*fstest.MapFS{&c.base, &c.head} {
				if *tree == nil {
					*tree = fstest.MapFS{}
				}
				(*tree)["policies/few.yaml"] = policy
			}
			base, head := scanner.Tree{FS: treetest.Name(c.base)}, scanner.Tree{FS: treetest.Name(c.head)}
			r, err := scanner.Scan(context.Background(), scanner.Input{Base: &base, Head: head})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Operation+" "+f.Root+" "+fmt.Sprintf("%s:%d", f.Location.Path, f.Location.StartLine))
			}
			for _, i := range r.Indeterminate {
				got = append(got, "indeterminate: "+i.Why)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
