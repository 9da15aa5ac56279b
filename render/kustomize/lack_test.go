package kustomize

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// TestStubsOfBases builds kustomizations over bases that patch absent objects. Missing stubs are found by
// building the base, not by building the whole again for each object.
func TestStubsOfBases(t *testing.T) {
	patches := func(names ...string) (text string) {
		text = "patches:\n"
		for _, name := range names {
			text += "- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + "}, spec: {replicas: 2}}'\n"
		}
		return text
	}
	const remote = "https://github.com/example/"
	for name, c := range map[string]struct {
		files  map[string]string
		builds int
	}{
		"base": {files: map[string]string{
			"base/kustomization.yaml":  "resources: ['" + remote + "one', ../lower]\n",
			"lower/kustomization.yaml": "resources: ['" + remote + "two']\n" + patches("a", "b", "c"),
		}, builds: 2},
		"two bases": {files: map[string]string{
			"base/kustomization.yaml":  "resources: ['" + remote + "one', ../lower]\n" + patches("a", "b"),
			"lower/kustomization.yaml": "resources: ['" + remote + "two']\n" + patches("c", "d"),
		}, builds: 3},
		"component": {files: map[string]string{
			"base/kustomization.yaml": "resources: ['" + remote + "one']\ncomponents: [../part]\n",
			"part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n" + patches("a", "b"),
		}, builds: 3},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{
				"kustomization.yaml": {Data: []byte("resources: [ours.yaml, base]\n")},
				"ours.yaml":          {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ours\n")},
			}
			for name, text := range c.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			source := New(tree.New(files, tree.Limits{}), render.Options{}).(*Source)
			closure, builds := source.walk(".", tree.NewTrace()), 0
			resources, err := source.run(&build.FileSystem{Tree: source.tree, Trace: tree.NewTrace(), Closure: closure, Serve: func(real string, data []byte) []byte {
				if strings.HasPrefix(real, "ours") {
					builds++
				}
				return data
			}}, ".")
			if err != nil || resources.Size() != 1 {
				t.Fatalf("%v: %v, want one object", resources, err)
			}
			if builds != c.builds {
				t.Errorf("%d builds of the whole, want %d", builds, c.builds)
			}
		})
	}
}
