package render_test

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
)

// TestMistakes makes common mistakes in kustomizations: kustomize's error becomes a sentence at the line to fix.
func TestMistakes(t *testing.T) {
	const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}\n"
	for _, c := range []struct{ files, want string }{
		// Wrong types.
		{"k: resources: cm.yaml", "k:1 resources is a string, and has to be a list of strings"},
		{"k: resources: [{path: cm.yaml}]", "k:1 an item of resources is a map, and has to be a string"},
		{"k: resources: [cm.yaml]|commonLabels: [a, b]", "k:2 commonLabels is a list, and has to be a map of strings"},
		{"k: resources: [cm.yaml]|labels:|- pairs: {a: {b: c}}", "k:3 a value of labels.pairs is a map, and has to be a string"},
		{"k: images:|- name: x|  newTag: 1.10", "k:3 images.newTag is a number, and has to be a string: quote it"},
		{`k: replicas: [{name: web, count: "three"}]`, "k:1 replicas.count is a string, and has to be a whole number"},
		{"k: resources: [cm.yaml]|resource: [x.yaml]", `k:2 a kustomization has no field "resource" there`},
		{"k: kind: Kustomizaton|resources: [cm.yaml]", "k:1 kind has to be Kustomization or Component"},
		{"k: resources:|\t- cm.yaml", "k:2 invalid YAML: found character that cannot start any token"},
		{"k: apiVersion: kustomize.config.k8s.io/v1beta1", "k:1 a kustomization has no fields but kind and apiVersion"},
		{"k: resources: [../b]; b/kustomization.yaml: kind: Kustomization", "b/kustomization.yaml:1 a kustomization has no fields but kind and apiVersion"},
		// Missing files.
		{"k: resources: [cm.yaml, gone.yaml]", `k:1 "gone.yaml" does not exist: there is no app/gone.yaml`},
		{"k: resources: [../e]; e/x.txt: x", "k:1 there is no kustomization.yaml in the directory e"},
		{"k: configMapGenerator: [{name: x, files: [gone.txt]}]", `k:1 "gone.txt" does not exist: there is no app/gone.txt`},
		{"k: transformers: [t.yaml]; app/t.yaml: {apiVersion: builtin, kind: NoSuch, metadata: {name: x}}", "app/t.yaml:1 there is no builtin plugin NoSuch"},
		// Bases.
		{"k: resources: [../b]; b/kustomization.yaml: resources: [../app]", "b/kustomization.yaml:1 cycle of bases: app -> b -> app"},
		{"k: resources: [cm.yaml, cm2.yaml]; app/cm2.yaml: " + configMap, `k:1 ConfigMap a is there twice: "cm2.yaml" has it as well`},
		{"k: resources: [../b, ../c]; b/kustomization.yaml: resources: [cm.yaml]; b/cm.yaml: " + configMap + "; c/kustomization.yaml: resources: [cm.yaml]; c/cm.yaml: " + configMap, `k:1 ConfigMap a is there twice: "../c" has it as well`},
		{"k: components: [../c]; c/kustomization.yaml: resources: [../app/cm.yaml]", "k:1 c is used as a component, and is none: list it under resources, or give it kind: Component"},
		{"k: resources: [../c]; c/kustomization.yaml: patches: [{path: gone}]|kind: Component|apiVersion: kustomize.config.k8s.io/v1alpha1", "k:1 c is a Component: list it under components"},
		// Patches, in bases as well.
		{"k: resources: [dep.yaml]|patches:|- patch: |-|    {apiVersion: apps/v1, kind: Deployment, metadata: {name: wrong}}", "k:3 the patch is of Deployment wrong, and there is no such resource"},
		{"k: resources: [../b]; b/kustomization.yaml: resources: [../c]; c/kustomization.yaml: resources: [../app/dep.yaml]|patches:|- target: {kind: Deployment}|  patch: |-|    - {op: remove, path: /spec/x}", "c/kustomization.yaml:4 the patch cannot remove /spec/x: the object has no such field"},
		{"k: resources: [dep.yaml]|patches:|- target: {kind: Deployment}|  patch: |-|    - {op: repace, path: /spec/x, value: 1}", `k:4 the patch has the operation "repace": it has to be add, remove, replace, move, copy or test`},
		{"k: resources: [dep.yaml]|patches:|- patch: |-|    - {op: replace, path: /spec/x, value: 1}", "k:3 a JSON patch needs a target"},
		{"k: resources: [dep.yaml]|patches:|- target: {kind: Deployment}", "k:3 an entry of patches needs patch or path"},
		{"k: resources: [dep.yaml]|patches:|- patch: 'a: b: c'", "k:3 the patch is neither a strategic merge patch nor a JSON patch"},
		// Generators, replacements, vars, transformations.
		{"k: resources: [cm.yaml]|configMapGenerator:|- name: a|  literals: [a=b]|  options: {disableNameSuffixHash: true}", "k:3 a generator makes ConfigMap a, which is there already: it needs behavior: merge or behavior: replace"},
		{"k: configMapGenerator: [{name: x, behavior: merge, literals: [a=b]}]", "k:1 a generator is to merge into or replace ConfigMap x, which does not exist"},
		{"k: configMapGenerator:|- name: x|  literals: [novalue]", `k:3 the literal "novalue" has no value: it has to be key=value`},
		{"k: configMapGenerator:|- name: x|  literals: [a=b, a=c]", `k:2 the generator of x has the key "a" more than once`},
		{"k: resources: [dep.yaml]|replacements:|- source: {kind: ConfigMap, name: nope}|  targets: [{select: {kind: Deployment}, fieldPaths: [spec.x]}]", "k:3 a replacement takes its value from ConfigMap nope, and there is no such resource"},
		{"k: resources: [dep.yaml, cm.yaml]|replacements:|- source: {kind: ConfigMap, name: a, fieldPath: data.x}|  targets: [{select: {kind: Deployment}, fieldPaths: [spec.x]}]", "k:3 a replacement takes its value from data.x of ConfigMap a, which has no such field"},
		{"k: resources: [dep.yaml, cm.yaml]|replacements:|- source: {kind: ConfigMap, name: a}|  targets: [{select: {kind: Deployment}, fieldPaths: [spec.x.y]}]", "k:4 the target of a replacement has no field spec.x.y; with options: {create: true} it is made"},
		{"k: resources: [cm.yaml]|vars: [{name: X, objref: {kind: Secret, name: s, apiVersion: v1}}]", "k:2 var X is of a Secret that is not among the resources"},
		{"k: resources: [cm.yaml, cm2.yaml]|namespace: x; app/cm2.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: y}}", "k:2 in namespace x there would be ConfigMap a twice"},
		// Resources.
		{"k: resources: [n.yaml]; app/n.yaml: a: b| c: d", "app/n.yaml:2 invalid YAML: mapping values are not allowed in this context"},
		{"k: resources: [n.yaml]; app/n.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {}}", "app/n.yaml:1 an object of kind ConfigMap has no metadata.name that is a string"},
		{"k: resources: [n.yaml]; app/n.yaml: a: 1|---|- x", "app/n.yaml:1 a document is not an object: it has no apiVersion, kind and metadata"},
		{"k: resources: [n.yaml]; app/n.yaml: {apiVersion: v1, metadata: {name: a}}", "app/n.yaml:1 an object has no kind"},
		{"k: resources: [n.yaml]; app/n.yaml: apiVersion: v1|kind: ConfigMap|metadata: {name: a}|metadata: {name: b}", `app/n.yaml:1 the key "metadata" is repeated in a map`},
		{"k: resources: [cm.yaml, n.yaml]; app/n.yaml: apiVersion: v1|kind: ConfigMap|metadata: {name: b}|data:|  x: {{y}}", "app/n.yaml:5 invalid YAML: a mapping is the key of another, as of {{ }} that is not quoted"},
		{"k: resources: [../b]; b/kustomization.yaml: resources: [n.yaml]; b/n.yaml: apiVersion: v1|kind: ConfigMap|metadata: {name: b}|data:|  x: {{y}}", "b/n.yaml:5 invalid YAML: a mapping is the key of another, as of {{ }} that is not quoted"},
		// Configurations.
		{"k: resources: [cm.yaml]|configurations: [c.yaml]; app/c.yaml: namespace: [{path: x}]|nameReference:|- kind: ConfigMap|  namespace: x|  fieldSpecs: [{kind: Pod, path: z}]", `app/c.yaml:4 a configuration of kustomize has no field "namespace" there`},
		{"k: namespace: x|resources: [cm.yaml]|configurations: [c.yaml]; app/c.yaml: nameReferences: []", `app/c.yaml:1 a configuration of kustomize has no field "nameReferences" there`},
	} {
		files := fstest.MapFS{"app/cm.yaml": {Data: []byte(configMap)}, "app/dep.yaml": {Data: []byte(deployment)}}
		for _, file := range strings.Split(c.files, "; ") {
			name, text, _ := strings.Cut(file, ": ")
			if name == "k" {
				name = "app/kustomization.yaml"
			}
			text = strings.ReplaceAll(strings.ReplaceAll(text, "patch: |-|", "patch: \x00-|"), "|", "\n")
			files[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "\x00", "|") + "\n")}
		}
		t.Run(path.Base(c.want), func(t *testing.T) {
			r := sources.NewRenderer(files, render.Options{})
			result := r.Render(t.Context(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}})
			if result.Problem == nil {
				t.Fatal("renders")
			}
			want := strings.Replace(c.want, "k:", "app/kustomization.yaml:", 1)
			if !strings.HasPrefix(c.want, "k:") {
				want = c.want
			}
			if got := fmt.Sprintf("%s:%d %s", result.Problem.Path, result.Problem.Line, result.Problem.Message); got != want {
				t.Errorf("%s\n got %s\nwant %s\nsaid %s", c.files, got, want, result.Problem.Original)
			}
		})
	}
}
