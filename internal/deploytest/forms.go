package deploytest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// Form is a way to deploy preadmit: a tree with one root.
type Form struct {
	Name string
	Tree fs.FS
}

// Forms returns the kustomizations of the directory deploy, and the output of the chart with each
// file of values, which the module e2e/chart keeps up to date.
func Forms(t *testing.T, deploy string) []Form {
	t.Helper()
	all := []Form{{"base", os.DirFS(filepath.Join(deploy, "kustomize", "base"))}, {"external-nats", os.DirFS(filepath.Join(deploy, "kustomize"))}}
	files, err := filepath.Glob(filepath.Join(deploy, "testdata", "chart", "*.values.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("files of values: %q, %v", files, err)
	}
	for _, file := range files {
		dir := strings.TrimSuffix(file, ".values.yaml")
		all = append(all, Form{filepath.Base(dir), os.DirFS(dir)})
	}
	return all
}

// Copied returns a copy of a tree in memory.
func Copied(t *testing.T, tree fs.FS) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		out[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ingress is an example of the Ingress that users write themselves.
const ingress = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: preadmit}
spec: {defaultBackend: {service: {name: preadmit, port: {name: http}}}}
`

// Overlay returns the kustomization of docs/github-app.md, with a configuration as described there.
func Overlay(t *testing.T, deploy string) fs.FS {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deploy, "..", "docs", "github-app.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```yaml\n(# kustomization.yaml\n.*?)^```$").FindSubmatch(data)
	base := os.DirFS(filepath.Join(deploy, "kustomize", "base"))
	serve, err := fs.ReadFile(base, "serve.yaml")
	if block == nil || err != nil {
		t.Fatalf("the example is gone, or %v", err)
	}
	tree := fstest.MapFS{
		"kustomization.yaml": {Data: block[1]}, "ingress.yaml": {Data: []byte(ingress)},
		"serve.yaml": {Data: []byte(strings.Replace(string(serve), "app:\n",
			"publicURL: https://preadmit.example.com\napp:\n  id: 7\n  clientID: Iv1.abc\n", 1))},
	}
	for name, file := range Copied(t, base) {
		tree["kustomize/base/"+name] = file
	}
	return tree
}
