package scanner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/config"
)

// TestAssumedNamespace checks that a root whose objects name no namespace is judged in default,
// which the report notes once, or in the configured namespace.
func TestAssumedNamespace(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	policies := file(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: apart}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {env: prod}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
  validations: [{expression: "false"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: apart}
spec: {policyName: apart, validationActions: [Deny]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {env: prod}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: default}}
`)
	tree := fstest.MapFS{
		"policies/p.yaml": policies,
		"app/a.yaml":      file("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"),
		"one/a.yaml":      file("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"),
		"named/a.yaml":    file("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: other}}"),
	}
	base := scanner.Tree{FS: fstest.MapFS{"policies/p.yaml": policies}}
	scan := func(c config.Config) (found, notes []string) {
		r, err := scanner.Scan(context.Background(), scanner.Input{Base: &base, Head: scanner.Tree{FS: tree}, Config: c})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			found = append(found, f.Object.Namespace+"/"+f.Object.Name)
		}
		for _, d := range r.Diagnostics {
			if d.Severity != "note" {
				t.Errorf("%+v", d)
			}
			notes = append(notes, d.Root+": "+d.Message)
		}
		if i := slices.IndexFunc(r.Indeterminate, func(i report.Indeterminate) bool { return i.Object == nil || i.Object.Namespace != "other" }); i >= 0 {
			t.Errorf("%+v", r.Indeterminate[i])
		}
		return found, notes
	}
	const why = "no namespace, so the verdicts are those of namespace default; if they are applied in another, name it under targets in .preadmit.yaml (namespace)"
	found, notes := scan(config.Config{})
	if d := cmp.Diff([]string{": 3 objects name " + why + ": 2 roots (app, one)"}, notes); d != "" || len(found) > 0 {
		t.Error(found, d)
	}
	found, notes = scan(config.Config{Targets: []config.Target{{Name: "all", Roots: []string{"**"}, Namespace: "shop"}}})
	if d := cmp.Diff([]string{"shop/a", "shop/b", "shop/c"}, found); d != "" || len(notes) > 0 {
		t.Error(notes, d)
	}
}

// TestDeletedNamespace checks the warning about a deleted Namespace in which the head still has objects, changed
// or not, and that there is none if nothing stays or the Namespace does.
func TestDeletedNamespace(t *testing.T) {
	const (
		namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"
		a         = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n"
		changed   = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {b: c}}\n"
		cluster   = "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: shop}, rules: []}\n"
		other     = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}\n"
	)
	tree := func(files ...string) fstest.MapFS {
		all := fstest.MapFS{}
		for i := 0; i < len(files); i += 2 {
			all[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		}
		return all
	}
	const warned = "app/a.yaml:1 base: Namespace/shop: the change deletes this Namespace, and with it everything in it, but 1 object is still applied in it: ConfigMap a"
	for _, test := range []struct {
		name       string
		base, head fstest.MapFS
		want       []string
	}{
		{"a changed object stays", tree("app/a.yaml", namespace+a), tree("app/a.yaml", changed), []string{warned}},
		{"an equal object stays", tree("app/a.yaml", namespace+a), tree("app/a.yaml", a), []string{warned}},
		{"nothing stays", tree("app/a.yaml", namespace+a+cluster), tree("app/a.yaml", cluster+other), nil},
		{"the Namespace moves", tree("app/a.yaml", namespace+a), tree("app/a.yaml", a, "new/b.yaml", namespace), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := scanner.Scan(t.Context(), scanner.Input{Base: &scanner.Tree{FS: test.base}, Head: scanner.Tree{FS: test.head}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range remarks(r) {
				got = append(got, fmt.Sprintf("%s:%d %s: %s", d.Location.Path, d.Location.StartLine, d.Location.Tree, d.Message))
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// remarks returns the diagnostics of a report without those on assumed namespaces, which the trees
// of most tests have.
func remarks(r *report.Report) []report.Diagnostic {
	return slices.DeleteFunc(slices.Clone(r.Diagnostics), func(d report.Diagnostic) bool {
		return strings.Contains(d.Message, "no namespace, so the verdicts are those of namespace default")
	})
}
