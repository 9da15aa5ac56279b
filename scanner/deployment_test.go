package scanner_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// TestDeploy checks that every applied object has its user, applier and expected response, and that
// deciding objects of roots that were not selected are included.
func TestDeploy(t *testing.T) {
	tree := fstest.MapFS{
		"policies/names.yaml": {Data: []byte(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: names}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "object.metadata.name != 'bad'", message: not bad}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: names}
spec: {policyName: names, validationActions: [Deny]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: elsewhere}
`)},
		"apps/maps.yaml": {Data: []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: bad, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: good, namespace: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: one, namespace: shop}
`)},
	}
	in := scanner.Input{Head: scanner.Tree{FS: tree, Under: []string{"apps"}}}
	in.Config.Applier = string(apply.KubectlSSA)
	d, err := scanner.Deploy(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Clusters) != 1 || d.Clusters[0].Name != "" {
		t.Fatalf("there are clusters %v, want one without a name", d.Clusters)
	}
	c := d.Clusters[0]
	type applied struct {
		key     string
		allowed bool
		decides bool
		message string
		open    int
	}
	var got []applied
	for _, a := range c.Applied {
		if a.Root != "apps" || a.Applier != apply.KubectlSSA || a.User == nil {
			t.Errorf("%s is applied by %s of %s as %v", a.Key, a.Applier, a.Root, a.User)
		}
		got = append(got, applied{a.Key.String(), a.Answer.Allowed, a.Decides, a.Answer.Message, len(a.Open)})
	}
	denied := `configmaps "bad" is forbidden: ValidatingAdmissionPolicy 'names' with binding 'names' denied request: not bad`
	want := []applied{
		{"ConfigMap/shop/bad", false, false, denied, 0},
		{"ConfigMap/shop/good", true, false, "", 0},
		{"Namespace/shop", true, true, "", 0},
		{"Thing.example.com/shop/one", true, false, "", 0},
	}
	if len(got) != len(want) {
		t.Fatalf("applied are %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("applied is %+v, want %+v", got[i], want[i])
		}
	}
	var given []string
	for _, a := range c.Given {
		given = append(given, a.Key.String())
		if !a.Decides || a.Applier != "" {
			t.Errorf("%s is given with %+v", a.Key, a)
		}
	}
	if len(given) != 2 || given[0] != "ValidatingAdmissionPolicy.admissionregistration.k8s.io/names" || given[1] != "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io/names" {
		t.Errorf("given are %q, want the policy and its binding", given)
	}
}

// TestDeployUnrendered checks that roots with unknown objects are listed, including those that were not
// selected, since they may have deciding objects.
func TestDeployUnrendered(t *testing.T) {
	tree := fstest.MapFS{
		"apps/kustomization.yaml":  {Data: []byte("resources:\n- map.yaml\n- https://example.com/base.yaml\n")},
		"apps/map.yaml":            {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n")},
		"rest/kustomization.yaml":  {Data: []byte("resources: [policy.yaml, missing.yaml]\n")},
		"rest/policy.yaml":         {Data: []byte("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: names}\n")},
		"whole/kustomization.yaml": {Data: []byte("resources: [map.yaml]\n")},
		"whole/map.yaml":           {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n")},
	}
	in := scanner.Input{Head: scanner.Tree{FS: tree, Under: []string{"apps"}}}
	d, err := scanner.Deploy(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range d.Unrendered {
		got = append(got, fmt.Sprintf("%s %s:%d partly=%t judged=%t", u.Root, u.Location.Path, u.Location.StartLine, u.Partly, u.Judged))
		if u.Why == "" {
			t.Errorf("%s does not say why", u.Root)
		}
	}
	want := []string{
		"apps apps/kustomization.yaml:3 partly=true judged=true",
		"rest rest/kustomization.yaml:1 partly=false judged=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("unrendered are %q, want %q", got, want)
	}
}

// TestDeployHooks checks that hooks which delete an earlier one are only created.
func TestDeployHooks(t *testing.T) {
	files, err := filepath.Glob("testdata/deployed/*hook*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, head := sidesOf(archive)
		d, err := scanner.Deploy(t.Context(), scanner.Input{Head: scanner.Tree{FS: packCharts(t, archive).over(head)}})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range d.Clusters {
			for _, a := range append(c.Applied, c.Given...) {
				if a.Object == nil {
					t.Errorf("%s: of %s it is not said what is applied", file, a.Key)
				}
			}
		}
	}
}

// TestDeployUnknownCertificate checks that there is no finding about an unknown certificate, nor about a
// key that does not match an unknown certificate.
func TestDeployUnknownCertificate(t *testing.T) {
	secret := func(crt, key, more string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nmetadata: {name: one}\ndata:\n  tls.crt: " + crt + "\n  tls.key: " + key + "\n" + more)}
	}
	for name, test := range map[string]struct {
		file *fstest.MapFile
		want []string
	}{
		"certificate": {secret(sealed, "bm9uZQ==", sops), nil},
		"key":         {secret("bm9uZQ==", sealed, sops), nil},
		"both":        {secret(sealed, sealed, sops), nil},
		"none":        {secret("bm9uZQ==", "bm9uZQ==", ""), []string{"tls: failed to find any PEM data in certificate input"}},
	} {
		d, err := scanner.Deploy(t.Context(), scanner.Input{Head: scanner.Tree{FS: fstest.MapFS{"a.yaml": test.file}}})
		if err != nil || len(d.Clusters[0].Applied) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, d)
		}
		if got := d.Clusters[0].Applied[0].Answer.Warnings; !slices.Equal(got, test.want) {
			t.Errorf("%s: the server warns of %q, want %q", name, got, test.want)
		}
	}
}
