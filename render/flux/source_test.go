package flux_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
)

// files returns a tree for `-- name --` sections.
func files(t *testing.T, text string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for _, section := range strings.Split("\n"+text, "\n-- ")[1:] {
		name, content, _ := strings.Cut(section, " --\n")
		out[name] = &fstest.MapFile{Data: []byte(content + "\n")}
	}
	return out
}

// unitOf returns the root of a Kustomization object.
func unitOf(t *testing.T, dir, object string, variables ...render.Variable) render.Root {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec:\n  sourceRef: {kind: GitRepository, name: flux-system}\n  prune: true\n" + object))
	if err != nil {
		t.Fatal(err)
	}
	id := render.RootID{
		Kind: render.KindFlux, Dir: dir, Cluster: "clusters/one",
		Object: render.ObjectRef{Group: flux.Group, Kind: "Kustomization", Namespace: "flux-system", Name: "apps"},
	}
	return render.Root{RootID: id, Unit: &render.Unit{Object: data, Cluster: "clusters/one", Checkout: render.Checkout{Top: "."}, Variables: variables}}
}

// rendered returns the objects of a root as YAML, with the unknown fields, or the problem.
func rendered(r *render.Result) string {
	if r.Problem != nil {
		return r.Problem.Error()
	}
	var out []string
	for _, o := range r.Objects {
		text, _ := yaml.JSONToYAML(o.JSON)
		for _, u := range o.Unknown {
			path, _ := json.Marshal(u.Path)
			text = append(text, []byte("# unknown "+string(path)+": "+u.Reason+"\n")...)
		}
		out = append(out, string(text))
	}
	for _, d := range r.Diagnostics {
		out = append(out, fmt.Sprintf("# %s: %s: %s\n", d.Severity, d.Position, d.Message))
	}
	return strings.Join(out, "---\n")
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"

func TestRender(t *testing.T) {
	deployment := `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx:1
`
	tests := []struct {
		name, files, spec string
		variables         []render.Variable
		want              string
	}{{
		name:  "a directory without a kustomization",
		files: "-- apps/b.yaml --\n" + configMap + "-- apps/sub/a.yml --\n" + strings.Replace(configMap, ": a", ": b", 1) + "-- apps/base/kustomization.yaml --\nresources: [c.yaml]\n-- apps/base/c.yaml --\n" + strings.Replace(configMap, ": a", ": c", 1) + "-- apps/base/not.yaml --\nnot: listed\n-- apps/README.md --\ntext",
		want:  labeled(configMap) + "---\n" + labeled(strings.Replace(configMap, ": a", ": b", 1)) + "---\n" + labeled(strings.Replace(configMap, ": a", ": c", 1)),
	}, {
		name:  "the controller's kustomize has no version",
		files: "-- apps/kustomization.yaml --\nresources: [a.yaml]\nbuildMetadata: [managedByLabel]\n-- apps/a.yaml --\n" + configMap,
		want:  strings.Replace(labeled(configMap), "  labels:\n", "  labels:\n    app.kubernetes.io/managed-by: kustomize-(devel)\n", 1),
	}, {
		name:  "namespace, names, images, patches, common metadata",
		files: "-- apps/kustomization.yaml --\nresources: [web.yaml]\nnamespace: other\nimages: [{name: nginx, newTag: '2', newName: docker.io/nginx}]\n-- apps/web.yaml --\n" + deployment,
		spec: `  targetNamespace: shop
  namePrefix: my-
  images: [{name: nginx, digest: "sha256:1"}]
  commonMetadata: {labels: {team: a, kustomize.toolkit.fluxcd.io/name: x}, annotations: {note: b}}
  patches:
  - patch: |
      - op: add
        path: /spec/replicas
        value: 3
    target: {kind: Deployment}
`,
		want: `apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    note: b
  labels:
    kustomize.toolkit.fluxcd.io/name: x
    kustomize.toolkit.fluxcd.io/namespace: flux-system
    team: a
  name: my-web
  namespace: shop
spec:
  replicas: 3
  template:
    spec:
      containers:
      - image: docker.io/nginx@sha256:1
        name: web
`,
	}, {
		name:      "a label that is no string",
		files:     "-- apps/a.yaml --\n" + configMap + "  labels: {app: '${X}', enabled: false}\n-- apps/b.yaml --\n" + strings.Replace(configMap, ": a", ": b", 1) + "  labels: {app: b, empty: null}\n",
		spec:      "  commonMetadata: {labels: {team: a}}\n  postBuild: {substituteFrom: [{kind: Secret, name: x}]}\n",
		variables: []render.Variable{{Name: "X", Unknown: "no Secret x"}},
		want: `apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    kustomize.toolkit.fluxcd.io/name: apps
    kustomize.toolkit.fluxcd.io/namespace: flux-system
    team: a
  name: a
---
apiVersion: v1
kind: ConfigMap
metadata:
  labels:
    app: b
    empty: ""
    kustomize.toolkit.fluxcd.io/name: apps
    kustomize.toolkit.fluxcd.io/namespace: flux-system
    team: a
  name: b
`,
	}, {
		name:      "an annotation that is no string, and common ones",
		files:     "-- apps/a.yaml --\n" + configMap + "  annotations: {note: a, number: '${N}'}\n",
		spec:      "  commonMetadata: {annotations: {team: a}}\n  postBuild: {substitute: {N: '1'}}\n",
		variables: []render.Variable{{Name: "N", Value: "1"}},
		want:      strings.Replace(labeled(configMap), "  labels:", "  annotations:\n    team: a\n  labels:", 1),
	}, {
		name:  "a component, and one that is missing",
		files: "-- apps/a.yaml --\n" + configMap + "-- parts/a/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels: [{pairs: {part: a}}]\n",
		spec:  "  components: [../parts/a, ../parts/b]\n  ignoreMissingComponents: true\n",
		want:  strings.Replace(labeled(configMap), "  name: a\n", "    part: a\n  name: a\n", 1),
	}, {
		name:  "a missing component",
		files: "-- apps/a.yaml --\n" + configMap,
		spec:  "  components: [../parts/b]\n",
		want:  `apps: component path "../parts/b" does not exist: there is no parts/b`,
	}, {
		name:  "a remote component",
		files: "-- apps/a.yaml --\n" + configMap,
		spec:  "  components: [https://example.com/b]\n",
		want:  `apps: component path "https://example.com/b" must be local and relative`,
	}, {
		name:  "no directory",
		files: "-- apps2/a.yaml --\n" + configMap,
		want:  "apps: kustomization path not found: there is no directory apps",
	}, {
		name:  "nothing in the directory",
		files: "-- apps/README.md --\nx",
		want:  "",
	}, {
		name:  "an object without a name",
		files: "-- apps/a.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n",
		want:  "apps/a.yaml:1: an object of kind Pod has no metadata.name that is a string",
	}, {
		name:      "substitution retypes, and is disabled by a label or an annotation",
		files:     "-- apps/a.yaml --\n" + configMap + "spec: {port: '${PORT}', text: 'a-${PORT}-$${X}', default: '${NONE:=${PORT}}', empty: '${NONE}', upper: '${WORD^^}'}\n-- apps/b.yaml --\n" + strings.Replace(configMap, "  name: a", "  name: b\n  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}", 1) + "data: {x: '${PORT}'}\n",
		spec:      "  postBuild: {substitute: {PORT: '80', WORD: abc}}\n",
		variables: []render.Variable{{Name: "PORT", Value: "80"}, {Name: "WORD", Value: "abc"}},
		want: labeled(configMap) + `spec:
  default: 80
  empty: null
  port: 80
  text: a-80-${X}
  upper: ABC
---
apiVersion: v1
data:
  x: ${PORT}
kind: ConfigMap
metadata:
  annotations:
    kustomize.toolkit.fluxcd.io/substitute: disabled
  labels:
    kustomize.toolkit.fluxcd.io/name: apps
    kustomize.toolkit.fluxcd.io/namespace: flux-system
  name: b
`,
	}, {
		name:      "unknown values",
		files:     "-- apps/a.yaml --\n" + configMap + "spec: {a: 'x.${D}/${PORT}', b: '${D:-c}', c: '${D^^}', d: '${PORT:-${D}}', e: ['${PORT/8/9}', '${#PORT}'], f: '${NONE:+${D}}', g: '${OTHER}'}\n",
		spec:      "  postBuild: {substitute: {PORT: '80'}}\n",
		variables: []render.Variable{{Name: "D", Unknown: "encrypted"}, {Name: "PORT", Value: "80"}},
		want: labeled(configMap) + `spec:
  a: x.${D}/80
  b: ${D}
  c: ${D}
  d: 80
  e:
  - 90
  - 2
  f: ${D}
  g: null
# unknown ["spec","a"]: it holds ${D}: encrypted
# unknown ["spec","b"]: it holds ${D}: encrypted
# unknown ["spec","c"]: it holds ${D}: encrypted
# unknown ["spec","f"]: it holds ${D}: encrypted
`,
	}, {
		name:      "a missing source of variables",
		files:     "-- apps/a.yaml --\n" + configMap + "data: {a: '${PORT}', b: '${OTHER:-x}', '${K}': v}\n",
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "", Unknown: "no Secret x"}, {Name: "PORT", Value: "80"}},
		want:      "apiVersion: v1\ndata:\n  ${K}: v\n  a: 80\n  b: ${OTHER}\nkind: ConfigMap\nmetadata:\n  labels:\n    kustomize.toolkit.fluxcd.io/name: apps\n    kustomize.toolkit.fluxcd.io/namespace: flux-system\n  name: a\n# unknown [\"data\"]: it holds ${K}: no Secret x\n",
	}, {
		name:      "objects that the variables leave without a name",
		files:     "-- apps/a.yaml --\n" + strings.Replace(configMap, ": a", ": '${NONE}'", 1) + "-- apps/b.yaml --\n" + configMap + "-- apps/c.yaml --\n" + strings.Replace(configMap, ": a", ": '${PORT}'", 1),
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "PORT", Value: "80"}},
		want:      labeled(configMap) + "---\n# warning: apps/a.yaml:4:9: after substitution metadata.name is no text, or an empty one: Flux leaves this object out, and does not say so (and 1 more)\n",
	}, {
		name:      "an object that the variables leave without a kind",
		files:     "-- apps/a.yaml --\n" + strings.Replace(configMap, " ConfigMap", " '${NONE}'", 1),
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "PORT", Value: "80"}},
		want:      "apps/a.yaml:2:7: after substitution an object has no kind: Flux applies nothing of this build",
	}, {
		name:      "objects that the variables make one",
		files:     "-- apps/a.yaml --\n" + configMap + "-- apps/b.yaml --\n" + strings.Replace(configMap, ": a", ": '${NAME}'", 1) + "  namespace: default\n",
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "NAME", Value: "a"}},
		want:      "apps/b.yaml:4:9: post build failed: after substitution there is more than one ConfigMap a",
	}, {
		name:      "objects that change names",
		files:     "-- apps/a.yaml --\n" + strings.Replace(configMap, ": a", ": '${A}'", 1) + "-- apps/b.yaml --\n" + strings.Replace(configMap, ": a", ": '${B}'", 1) + "-- apps/c.yaml --\n" + strings.Replace(configMap, ": a", ": '${C}'", 1),
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "A", Value: "c"}, {Name: "B", Unknown: "no Secret x"}, {Name: "C", Value: "a"}},
		want:      labeled(strings.Replace(configMap, ": a", ": c", 1)) + "---\n" + labeled(strings.Replace(configMap, ": a", ": ${B}", 1)) + "# unknown [\"metadata\",\"name\"]: it holds ${B}: no Secret x\n---\n" + labeled(configMap),
	}, {
		name:      "numbers beyond what kustomize reads exactly",
		files:     "-- apps/a.yaml --\n" + configMap + "ids: [9007199254740993, 9007199254740991, -12345678901234567, 1234567890123456789, 9223372036854775807, '9007199254740993']\n",
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "PORT", Value: "80"}},
		want:      "apiVersion: v1\nids:\n- 9007199254740992\n- 9007199254740991\n- -12345678901234568\n- 1234567890123456800\n- 9223372036854776000\n- \"9007199254740993\"\nkind: ConfigMap\n" + strings.TrimPrefix(labeled(configMap), "apiVersion: v1\nkind: ConfigMap\n"),
	}, {
		name:      "a variable of another name than the controller takes",
		files:     "-- apps/a.yaml --\n" + configMap,
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "A-B", Value: "80"}},
		want:      `apps: post build failed: "A-B" var name is invalid, must match "^[_[:alpha:]][_[:alpha:][:digit:]]*$"`,
	}, {
		name:      "a variable of another name than the controller takes, and no object that has any replaced",
		files:     "-- apps/a.yaml --\n" + configMap + "  labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n",
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "A-B", Value: "80"}},
		want:      strings.Replace(labeled(configMap), "flux-system\n", "flux-system\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n", 1),
	}, {
		name:      "a broken expression",
		files:     "-- apps/a.yaml --\n" + configMap + "data: {a: '${PORT'}\n",
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "PORT", Value: "80"}},
		want:      "apps/a.yaml:5:11: post build failed for ConfigMap/a, field data.a: envsubst error: variable substitution failed: missing closing brace",
	}, {
		name:      "a value that breaks the YAML",
		files:     "-- apps/a.yaml --\n" + configMap + "data: {a: '${PORT}'}\n",
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "PORT", Value: "a: b: c"}},
		want:      "apps/a.yaml:5:11: post build failed for ConfigMap/a, field data.a: with the value of ${PORT} it is no YAML: mapping values are not allowed in this context",
	}, {
		name:      "a value that breaks the YAML of a key",
		files:     "-- apps/a.yaml --\n" + configMap + "data: {'${PORT}': a}\n",
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "PORT", Value: "{"}},
		want:      "apps/a.yaml:1:1: post build failed for ConfigMap/a: after substitution it is no YAML: did not find expected node content",
	}, {
		name:      "a value that breaks the YAML in an item of a list",
		files:     "-- apps/kustomization.yaml --\nresources: [../base]\n-- base/kustomization.yaml --\nresources: [a.yaml]\n-- base/a.yaml --\n" + configMap + "data:\n  a: ${GOOD}\nlist:\n- a\n- 'x ${PORT}${GOOD}'\n",
		spec:      "  postBuild: {}\n",
		variables: []render.Variable{{Name: "GOOD", Value: "a"}, {Name: "PORT", Value: "b: c: d"}},
		want:      "base/a.yaml:9:3: post build failed for ConfigMap/a, field list[1]: with the value of ${PORT}, ${GOOD} it is no YAML: mapping values are not allowed in this context",
	}, {
		name:  "files that the source leaves out",
		files: "-- .sourceignore --\n/apps/x\n-- apps/a.yaml --\n" + configMap + "-- apps/x/b.yaml --\nnot: an object\n-- apps/.travis.yml --\n" + strings.Replace(configMap, ": a", ": t", 1),
		want:  labeled(configMap) + "---\n" + labeled(strings.Replace(configMap, ": a", ": t", 1)),
	}, {
		name:  "files that a source leaves out by default",
		files: "-- apps/a.yaml --\n" + configMap + "-- apps/.sops.yaml --\nnot: an object\n-- apps/.github/b.yaml --\nnot: an object\n",
		want:  labeled(configMap),
	}, {
		name:  "an encrypted Secret without decryption",
		files: "-- apps/a.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: 'ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]'}\nsops: {mac: a, lastmodified: b}\n",
		want:  "apps: Secret s is SOPS encrypted, configuring decryption (spec.decryption) is required for this secret to be reconciled",
	}, {
		name:  "a Secret generated of an encrypted file",
		files: "-- apps/kustomization.yaml --\nsecretGenerator: [{name: s, envs: [s.env]}]\nresources: [a.yaml]\n-- apps/s.env --\nA=ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]\n-- apps/a.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{name: v, secret: {secretName: s}}]}\n",
		spec:  "  decryption: {provider: sops}\n",
		want: `apiVersion: v1
data:
  A: RU5DW0FFUzI1Nl9HQ00sZGF0YTphLGl2OmIsdGFnOmMsdHlwZTpzdHJd
kind: Secret
metadata:
  labels:
    kustomize.toolkit.fluxcd.io/name: apps
    kustomize.toolkit.fluxcd.io/namespace: flux-system
  name: s-h2d7hbdt2d
type: Opaque
# unknown ["data","A"]: it is made of a file encrypted by SOPS
# unknown ["metadata","name"]: its hash follows from a file encrypted by SOPS
---
apiVersion: v1
kind: Pod
metadata:
  labels:
    kustomize.toolkit.fluxcd.io/name: apps
    kustomize.toolkit.fluxcd.io/namespace: flux-system
  name: p
spec:
  volumes:
  - name: v
    secret:
      secretName: s-h2d7hbdt2d
# unknown ["spec","volumes","0","secret","secretName"]: its hash follows from a file encrypted by SOPS
`,
	}, {
		name:  "an encrypted Secret",
		files: "-- apps/a.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: 'ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]'}\nsops: {mac: a, lastmodified: b}\n",
		spec:  "  decryption: {provider: sops}\n",
		want:  "apiVersion: v1\nkind: Secret\nmetadata:\n  labels:\n    kustomize.toolkit.fluxcd.io/name: apps\n    kustomize.toolkit.fluxcd.io/namespace: flux-system\n  name: s\nstringData:\n  a: ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]\n# unknown [\"stringData\",\"a\"]: it is encrypted by SOPS\n",
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := render.NewRenderer(files(t, test.files), render.Options{}, flux.New)
			root := unitOf(t, "apps", test.spec, test.variables...)
			result := r.Render(context.Background(), root)
			if diff := cmp.Diff(test.want, rendered(result)); diff != "" {
				t.Error(diff)
			}
			if origins, err := r.Origins(context.Background(), result); result.Problem == nil && (err != nil || len(origins) != len(result.Objects)) {
				t.Errorf("%d origins of %d objects: %v", len(origins), len(result.Objects), err)
			}
			needs := r.Needs(root)
			if result.Problem == nil && !needs.Cover(result) {
				t.Errorf("needs %v do not cover the render's %v", needs.Trace, result.Trace)
			}
			if !r.Valid(result.Trace) {
				t.Error("the trace is not valid in its own tree")
			}
		})
	}
}

// labeled adds the labels of the controller to an object without labels.
func labeled(object string) string {
	return strings.Replace(object, "metadata:\n", "metadata:\n  labels:\n    kustomize.toolkit.fluxcd.io/name: apps\n    kustomize.toolkit.fluxcd.io/namespace: flux-system\n", 1)
}
