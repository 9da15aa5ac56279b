package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/gittest"
	"github.com/preadmit/preadmit/internal/outside"
)

// definitionOf returns a CustomResourceDefinition whose spec.size is a number.
func definitionOf(kind string) string {
	plural := strings.ToLower(kind) + "s"
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.example.com}
spec:
  group: example.com
  names: {kind: %s, plural: %s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`, plural, kind, plural)
}

// TestFetchCRDs: custom kinds are known from the sources that the configuration names: a file, a
// directory of a repository, a chart.
func TestFetchCRDs(t *testing.T) {
	world, root := outside.New(), t.TempDir()
	release := "# Of a release\napiVersion: v1\nkind: Namespace\nmetadata: {name: system}\n---\n" + definitionOf("Apple") + "---\nkind: {{ not YAML }}\n"
	world.AddFile("files.example.com", "/v1/crds.yaml", []byte(release))
	h, err := gittest.NewHistory(filepath.Join(root, "org", "operator"), map[string]string{
		"config/crd/bases/pears.yaml": definitionOf("Pear"), "config/crd/kustomization.yaml": "resources: [bases/gone.yaml]\n", "other.yaml": "kind: [",
	}, map[string]string{"a": "b"}, map[string]string{"c": "d"})
	if err != nil {
		t.Fatal(err)
	}
	backend, err := gittest.Backend(root)
	if err != nil {
		t.Fatal(err)
	}
	world.AddGit("git.example.com", backend)
	for name, files := range map[string]map[string]string{"plums": {"crds/plum.yaml": definitionOf("Plum")}, "none": {}} {
		if err := world.AddChart("https://charts.example.com", name, "1.1.0", archiveOf(t, name, "1.1.0", files)); err != nil {
			t.Fatal(err)
		}
	}
	if err := world.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	work, kept, ca := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, world.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	own := &gittest.History{Dir: work}
	if _, err := own.Git("init", "-q", "-b", "main", work); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{".preadmit.yaml": `apiVersion: preadmit.dev/v1alpha1
kind: ScanConfig
crds:
- file: https://files.example.com/v1/crds.yaml
- git: https://git.example.com/org/operator
  ref: ` + h.Before + `
  path: config/crd
- chart: plums
  repository: https://charts.example.com
  version: 1.x
- {chart: none, repository: 'https://charts.example.com'}
`}
	for _, kind := range []string{"Apple", "Pear", "Plum"} {
		files["app/"+kind+".yaml"] = "apiVersion: example.com/v1\nkind: " + kind + "\nmetadata: {name: a, namespace: b}\nspec: {size: big}\n"
	}
	if _, err := own.Commit(files); err != nil {
		t.Fatal(err)
	}
	run := func(code int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		p := cli.Process{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Dial: world.Dial}
		if got := Main(t.Context(), append(args, "--artifact-dir", kept), p); got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", args[0], got, code, out.String())
		}
		return out.String()
	}
	has(t, run(0, "scan", work), ".preadmit.yaml:4:1: warning: CustomResourceDefinitions are missing: file https://files.example.com/v1/crds.yaml is not there: there is no preadmit.lock; preadmit fetch gets it")
	has(t, run(0, "fetch", "--ca-file", ca, work), "locked chart https://charts.example.com, name plums, version 1.x: 1.1.0", "4 artifacts, 0 failed")
	out := run(1, "scan", "--offline", work)
	has(t, out, "CREATE Apple b/a", "CREATE Pear b/a", "CREATE Plum b/a", ".spec.size: expected numeric (int or float), got string", "3 denied",
		".preadmit.yaml:11:1: warning: CustomResourceDefinitions are missing: chart https://charts.example.com, name none has no CustomResourceDefinitions in its directory crds")
	if strings.Contains(out, "Not judged") {
		t.Errorf("something is not judged:\n%s", out)
	}
}
