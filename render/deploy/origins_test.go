package deploy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
)

// files returns a tree for `-- name --` sections.
func files(text string) fstest.MapFS {
	out := fstest.MapFS{}
	for _, section := range strings.Split("\n"+text, "\n-- ")[1:] {
		name, content, _ := strings.Cut(section, " --\n")
		out[name] = &fstest.MapFile{Data: []byte(content + "\n")}
	}
	return out
}

// expand returns the graph of a tree.
func expand(t *testing.T, fsys fstest.MapFS, opts deploy.Options) (*render.Renderer, *deploy.Graph) {
	t.Helper()
	r := sources.NewRenderer(fsys, render.Options{})
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	graph, err := deploy.Expand(context.Background(), r, found, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r, graph
}

// unit returns the unit of a graph with a name.
func unit(t *testing.T, g *deploy.Graph, id string) render.Root {
	t.Helper()
	for _, root := range g.Units {
		if root.String() == id {
			return root
		}
	}
	t.Fatalf("there is no %s", id)
	return render.Root{}
}

const located = `-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  path: ./clusters/prod
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
  patches:
  - patch: |
      - op: add
        path: /spec/targetNamespace
        value: shop
    target: {kind: Kustomization, name: web}
  - patch: |
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata: {name: any}
      spec:
        patches:
        - patch: |
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: web}
            spec:
              minReadySeconds: 7
    target: {kind: Kustomization, name: web}
-- clusters/prod/web.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: web
  namespace: flux-system
spec:
  path: ./apps/web
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
  commonMetadata:
    labels:
      team: a
  images:
  - name: nginx
    newTag: "1.27"
  postBuild:
    substitute:
      REPLICAS: "3"
    substituteFrom:
    - {kind: ConfigMap, name: vars}
-- clusters/prod/vars.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: vars, namespace: flux-system}
data:
  HOST: www.example.com
  X: y
-- apps/web/kustomization.yaml --
resources:
- web.yaml
patches:
- patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
    spec:
      paused: false
-- apps/web/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: ${REPLICAS}
  template:
    spec:
      containers:
      - name: web
        image: nginx
        env:
        - name: BOTH
          value: "https://${HOST}/${X}"
        - name: ONE
          value: "https://${HOST}/"
        - name: DEFAULT
          value: ${NONE:=text}`

// TestOrigins locates fields through Flux: in files, in Kustomizations, in patches of them,
// and in variables.
func TestOrigins(t *testing.T) {
	r, graph := expand(t, files(located), deploy.Options{})
	root := unit(t, graph, "Kustomization/flux-system/web (clusters/prod)")
	result := r.Render(context.Background(), root)
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	origins, err := r.Origins(context.Background(), result)
	if err != nil {
		t.Fatal(err)
	}
	const container = "spec.template.spec.containers[0]"
	got := map[string]string{}
	want := map[string]string{
		"metadata.name":             "apps/web/web.yaml:4:9",
		"metadata.namespace":        "clusters/prod/flux-system/gotk-sync.yaml:14:16 of (apps/web/web.yaml:3:1), clusters/prod/flux-system/gotk-sync.yaml:14:16",
		"metadata.labels.team":      "clusters/prod/web.yaml:12:13",
		"spec.paused":               "apps/web/kustomization.yaml:10:15 of (apps/web/web.yaml:5:1), apps/web/kustomization.yaml:10:15",
		"spec.replicas":             "clusters/prod/web.yaml:18:17 of apps/web/web.yaml:6:13, clusters/prod/web.yaml:18:17",
		"spec.minReadySeconds":      "clusters/prod/flux-system/gotk-sync.yaml:27:32 of (apps/web/web.yaml:5:1), clusters/prod/flux-system/gotk-sync.yaml:27:32",
		container + ".image":        "clusters/prod/web.yaml:15:13 of apps/web/web.yaml:11:16, clusters/prod/web.yaml:15:13",
		container + ".env[0].value": "apps/web/web.yaml:14:18 of clusters/prod/vars.yaml:5:9, clusters/prod/vars.yaml:6:6, apps/web/web.yaml:14:18",
		container + ".env[1].value": "clusters/prod/vars.yaml:5:9 of apps/web/web.yaml:16:18, clusters/prod/vars.yaml:5:9",
		container + ".env[2].value": "apps/web/web.yaml:18:18",
	}
	for field := range want {
		got[field] = told(origins[0], field)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOriginsOfSync locates fields of the objects that flux-operator creates for a FluxInstance: in its patches and in
// spec.sync.
func TestOriginsOfSync(t *testing.T) {
	r, graph := expand(t, files("-- deploy/instance.yaml --\n"+instance(`
    - target: {kind: Kustomization}
      patch: |
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: any}
        spec:
          targetNamespace: shop
          postBuild: {substitute: {A: b}}
`)+"-- prod/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '${A}'}\n"), deploy.Options{})
	root := unit(t, graph, "Kustomization/flux-system/flux-system (prod)")
	result := r.Render(t.Context(), root)
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	origins, err := r.Origins(t.Context(), result)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{"metadata.namespace": told(origins[0], "metadata.namespace"), "data.a": told(origins[0], "data.a")}
	for _, field := range []string{"", "spec.path", "spec.targetNamespace", "spec.prune"} {
		place := root.Unit.Place(t.Context(), field)
		got["unit "+field] = fmt.Sprint(place.Position, place.Found())
	}
	want := map[string]string{
		"metadata.namespace":        "deploy/instance.yaml:14:28 of (prod/a.yaml:3:1), deploy/instance.yaml:14:28",
		"data.a":                    "deploy/instance.yaml:15:39 of prod/a.yaml:4:11, deploy/instance.yaml:15:39",
		"unit ":                     "deploy/instance.yaml:5:3 false",
		"unit spec.path":            "deploy/instance.yaml:5:87 true",
		"unit spec.targetNamespace": "deploy/instance.yaml:14:28 true",
		"unit spec.prune":           "deploy/instance.yaml:5:3 false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOriginsOfTracking locates the marks of an Application: the label and annotation that Argo CD is set to write, also
// over those of the manifest, and none that it does not write.
func TestOriginsOfTracking(t *testing.T) {
	r, graph := expand(t, files(`
-- app.yaml --
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source: {repoURL: 'https://git.example.com/r', path: web}
  destination: {server: 'https://kubernetes.default.svc', namespace: x}
-- cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data: {application.resourceTrackingMethod: label, application.instanceLabelKey: example.com/app}
-- web/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
-- web/b.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  labels:
    example.com/app: mine
    app.kubernetes.io/instance: mine
`), deploy.Options{Self: []string{"https://git.example.com/r"}})
	root := unit(t, graph, "Application/argocd/web (in-cluster)")
	result := r.Render(t.Context(), root)
	if result.Problem != nil || len(result.Objects) != 2 {
		t.Fatal(result.Problem)
	}
	origins, err := r.Origins(t.Context(), result)
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"metadata.namespace":                                   "app.yaml:6:70 app.yaml:6:70",
		"metadata.labels[example.com/app]":                     "app.yaml:3:18 app.yaml:3:18",
		"metadata.labels[example.com/app-id]":                  "web/a.yaml:3:1 web/b.yaml:5:3",
		"metadata.labels[app.kubernetes.io/instance]":          "web/a.yaml:3:1 web/b.yaml:7:33",
		"metadata.annotations[argocd.argoproj.io/tracking-id]": "web/a.yaml:3:1 web/b.yaml:3:1",
	} {
		if got := told(origins[0], field) + " " + told(origins[1], field); got != want {
			t.Errorf("%s is at %s, want %s", field, got, want)
		}
	}
}

// told returns the place of a field with its chain, if that has more than one step.
func told(o *origin.Origin, field string) string {
	out := o.Place(field, origin.Whole).Position.String()
	var steps []string
	for _, s := range o.Chain(field, origin.Whole) {
		text := s.Position.String()
		if s.Absent {
			text = "(" + text + ")"
		}
		steps = append(steps, text)
	}
	if len(steps) > 1 {
		out += fmt.Sprintf(" of %s", strings.Join(steps, ", "))
	}
	return out
}

// TestOriginsWithOtherBreaks locates fields in texts of an ApplicationSet with breaks that are lines to YAML only.
func TestOriginsWithOtherBreaks(t *testing.T) {
	const values = "a: {{.a}}%sb: 'c'"
	long := strings.Repeat("k", 50)
	for _, br := range []string{`\n`, `\r`, `\u2028`, `\n# \u2028\u2028\n` + long + `: {{.a}}\n`} {
		text := fmt.Sprintf(values, br)
		_, graph := expand(t, files("\n-- set.yaml --\n"+`apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: s, namespace: argocd}
spec:
  goTemplate: true
  generators: [{list: {elements: [{a: b}]}}]
  templatePatch: "`+strings.Replace(text, "b: 'c'", "spec: {project: default, revisionHistoryLimit: 7}", 1)+`"
  template:
    metadata: {name: web}
    spec:
      source:
        repoURL: https://git.example.com/r
        path: web
        helm:
          values: "`+text+`"
      destination: {server: 'https://kubernetes.default.svc'}
-- web/Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0
`), deploy.Options{Self: []string{"https://git.example.com/r"}})
		root := unit(t, graph, "Application/argocd/web (in-cluster)")
		places := map[string]string{origin.InText("spec.source.helm.values", "b"): "set.yaml:15", "spec.revisionHistoryLimit": "set.yaml:7"}
		if strings.Contains(br, long) {
			places[origin.InText("spec.source.helm.values", long)] = "set.yaml:6"
		}
		for field, want := range places {
			if at := root.Unit.Place(t.Context(), field).Position; fmt.Sprintf("%s:%d", at.Path, at.Line) != want {
				t.Errorf("with %s %q is at %s, want %s", br, field, at, want)
			}
		}
	}
}
