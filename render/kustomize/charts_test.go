package kustomize_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/kustomize"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// chartFiles are the files of a chart whose objects show the values that it was rendered with.
var chartFiles = map[string]string{
	"Chart.yaml":  "{apiVersion: v2, name: web, version: 1.0.0}\n",
	"values.yaml": "size: 1\nlist: [a]\nnested: {a: 1, b: 1}\n",
	"templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-web
data:
  size: {{ .Values.size | quote }}
  list: {{ join "," .Values.list | quote }}
  nested: {{ .Values.nested.a }}/{{ .Values.nested.b }}
  namespace: {{ .Release.Namespace }}
  kube: {{ .Capabilities.KubeVersion.Version }}
  api: {{ .Capabilities.APIVersions.Has "example.com/v1" | quote }}
  literal: chart
`,
	"templates/hook.yaml": `apiVersion: v1
kind: Pod
metadata: {name: hook, annotations: {helm.sh/hook: pre-install}}
---
apiVersion: v1
kind: Pod
metadata: {name: test, annotations: {helm.sh/hook: test}}
`,
	"crds/crd.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: webs.example.com}\n",
}

// withChart returns files with the chart in a directory.
func withChart(dir string, files map[string]string) map[string]string {
	for name, text := range chartFiles {
		files[path.Join(dir, name)] = text
	}
	return files
}

func sourceOf(files map[string]string, opts render.Options) (render.Source, *tree.Tree) {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	t := tree.New(fsys, tree.Limits{})
	return kustomize.New(t, opts), t
}

func at(dir string) render.Root {
	return render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: dir}}
}

// names returns the kinds and names of objects.
func names(r *render.Result) string {
	var all []string
	for _, o := range r.Objects {
		kind, name := o.KindAndName()
		all = append(all, kind+"/"+name)
	}
	return strings.Join(all, " ")
}

// TestChartsAreInflated compares the results of entries with those of HelmChartInflationGenerator in kustomize
// 0.21.1.
func TestChartsAreInflated(t *testing.T) {
	const all = "ConfigMap/app-web Pod/hook Pod/test"
	entry := func(more string) map[string]string {
		return withChart("app/charts/web", map[string]string{"app/kustomization.yaml": "helmCharts:\n- name: web\n  releaseName: app\n" + more})
	}
	with := func(files map[string]string, name, text string) map[string]string {
		files[name] = text
		return files
	}
	for _, test := range []struct {
		name    string
		files   map[string]string
		objects string
		data    string // of the ConfigMap
		problem string
	}{
		{"as it is", entry(""), all, `{"api":"false","kube":"v1.36.0","list":"a","literal":"chart","namespace":"default","nested":"1/1","size":"1"}`, ""},
		{"inline values over those of the chart", entry("  valuesInline: {size: 2, list: [b, c], nested: {a: 2}}\n"), all, `{"list":"b,c","nested":"2/1","size":"2"}`, ""},
		{"inline values under those of the chart", entry("  valuesMerge: merge\n  valuesInline: {size: 2, nested: {a: 2}}\n"), all, `{"nested":"1/1","size":"1"}`, ""},
		{"inline values only", entry("  valuesMerge: replace\n  valuesInline: {size: 2}\n"), all, `{"nested":"1/1","size":"2"}`, ""},
		{"no such merge", entry("  valuesMerge: other\n"), "", "", "app/kustomization.yaml:4:16: valuesMerge has to be"},
		{"file of values", with(entry("  valuesFile: v.yaml\n  valuesInline: {size: 3}\n"), "app/v.yaml", "size: 2\nnested: {a: 4}\n"), all, `{"nested":"4/1","size":"3"}`, ""},
		{"additional file of values", with(entry("  additionalValuesFiles: [v.yaml]\n  valuesInline: {size: 3}\n"), "app/v.yaml", "size: 5\n"), all, `{"size":"5"}`, ""},
		{"file of values that is not there", entry("  valuesFile: v.yaml\n"), "", "", "app/kustomization.yaml:4:15: chart web: \"v.yaml\""},
		{"file of values in the network", entry("  valuesFile: https://example.com/v.yaml\n"), "", "", "is not fetched"},
		{"name by default", with(entry(""), "app/kustomization.yaml", "helmCharts: [{name: web}]"), "ConfigMap/release-name-web Pod/hook Pod/test", "", ""},
		{"name by a template", with(entry(""), "app/kustomization.yaml", "helmCharts: [{name: web, nameTemplate: '{{ upper \"x\" | lower }}y'}]"), "ConfigMap/xy-web Pod/hook Pod/test", "", ""},
		{"name by chance", with(entry(""), "app/kustomization.yaml", "helmCharts: [{name: web, nameTemplate: '{{ randAlpha 3 }}'}]"), "", "", "made by chance"},
		{"name by a template that asks for the environment", with(entry(""), "app/kustomization.yaml", "helmCharts: [{name: web, nameTemplate: '{{ env \"HOME\" }}'}]"), "", "", "function \"env\" not defined"},
		{"name and template", entry("  nameTemplate: x\n"), "", "", "cannot set --name-template"},
		{"no hooks", entry("  skipHooks: true\n"), "ConfigMap/app-web", "", ""},
		{"no tests", entry("  skipTests: true\n"), "ConfigMap/app-web Pod/hook", "", ""},
		{"definitions", entry("  includeCRDs: true\n"), "CustomResourceDefinition/webs.example.com " + all, "", ""},
		{"versions", entry("  kubeVersion: 1.30.2\n  apiVersions: [example.com/v1]\n"), all, `{"api":"true","kube":"v1.30.2"}`, ""},
		{"no version", entry("  kubeVersion: x\n"), "", "", "app/kustomization.yaml:4:16: chart web: "},
		{"namespace of the entry", entry("  namespace: own\n"), all, `{"namespace":"own"}`, ""},
		{"namespace of the kustomization", with(entry(""), "app/kustomization.yaml", "namespace: shop\nhelmCharts: [{name: web, releaseName: app}]"), all, `{"namespace":"shop"}`, ""},
		{"other home", withChart("app/x/web", map[string]string{"app/kustomization.yaml": "helmGlobals: {chartHome: x}\nhelmCharts: [{name: web, releaseName: app}]"}), all, "", ""},
		{"version in the home", withChart("app/charts/web-1.0.0/web", map[string]string{"app/kustomization.yaml": "helmCharts: [{name: web, releaseName: app, version: 1.0.0, repo: https://example.com}]"}), all, "", ""},
		{"old field", withChart("app/x/web", map[string]string{"app/kustomization.yaml": "helmChartInflationGenerator: [{chartName: web, releaseName: app, chartHome: x, valuesLocal: {size: 8}}]"}), all, `{"size":"8"}`, ""},
		{"generator in a file", with(with(entry(""), "app/kustomization.yaml", "namespace: shop\ngenerators: [g.yaml]"), "app/g.yaml",
			"{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: x}, name: web, releaseName: app, valuesInline: {size: 9}}"), all, `{"namespace":"default","size":"9"}`, ""},
		{"prefix and patch", with(entry(""), "app/kustomization.yaml", "namePrefix: a-\nhelmCharts: [{name: web, releaseName: app}]\npatches:\n- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: app-web}, data: {size: patched}}'"),
			"ConfigMap/a-app-web Pod/a-hook Pod/a-test", `{"size":"patched"}`, ""},
		{"merged into by a generator", with(entry(""), "app/kustomization.yaml", "helmCharts: [{name: web, releaseName: app}]\nconfigMapGenerator: [{name: app-web, behavior: merge, literals: [size=3]}]"),
			"", "", "which does not exist"},
		{"no chart and no repo", map[string]string{"app/kustomization.yaml": "helmCharts: [{name: web}]"}, "", "", "and no repo from which to get it"},
		{"no charts given", map[string]string{"app/kustomization.yaml": "helmCharts:\n- name: web\n  repo: oci://example.com/charts\n  version: 1.2.3\n"}, "", "",
			"app/kustomization.yaml:4:12: chart oci://example.com/charts, name web, version 1.2.3 is not there: no charts were given; preadmit fetch gets it"},
		{"mistake in a template", with(entry(""), "app/charts/web/templates/bad.yaml", "a: 1\nb: {{ fail \"no\" }}\n"), "", "", "app/charts/web/templates/bad.yaml:2: chart web: "},
		{"missing dependency", with(entry(""), "app/charts/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: x, version: 1.0.0, repository: https://example.com}]}"), "", "", "helm dependency build"},
		{"library", with(entry(""), "app/charts/web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0, type: library}"), "", "", "not installable"},
		{"option for a name", with(entry(""), "app/kustomization.yaml", "helmCharts: [{name: web, releaseName: --post-renderer=x}]"), "", "", "may begin with -"},
		{"several namespaces", withChart("app/charts/web", map[string]string{
			"app/kustomization.yaml": "resources: [a, b]", "app/a/kustomization.yaml": "namespace: a\nresources: [../base]", "app/b/kustomization.yaml": "namespace: b\nresources: [../base]",
			"app/base/kustomization.yaml": "helmGlobals: {chartHome: ../charts}\nhelmCharts: [{name: web, releaseName: app}]",
		}), "", "", "several namespaces"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := sourceOf(test.files, render.Options{})
			result := s.Render(context.Background(), at("app"))
			if test.problem != "" {
				if result.Problem == nil || !strings.Contains(result.Problem.Error(), test.problem) {
					t.Fatalf("problem %v, want %s", result.Problem, test.problem)
				}
				return
			}
			if result.Problem != nil {
				t.Fatal(result.Problem)
			}
			if got := names(result); got != test.objects {
				t.Errorf("objects %s, want %s", got, test.objects)
			}
			if needs := s.Needs(at("app")); !needs.Cover(result) {
				t.Errorf("read %v, and needs say %v", result.Trace, needs.Trace)
			}
			var want map[string]string
			if test.data == "" {
				return
			}
			if err := json.Unmarshal([]byte(test.data), &want); err != nil {
				t.Fatal(err)
			}
			for _, o := range result.Objects {
				if kind, _ := o.KindAndName(); kind != "ConfigMap" {
					continue
				}
				for key, value := range want {
					if got, _ := origin.Field(o.Content(), "data."+key); got != value {
						t.Errorf("%s is %v, want %s", key, got, value)
					}
				}
			}
		})
	}
}

// TestChartsOfOverlays checks that charts inherit namespaces from overlays, and that the namespace transformer
// does not set them.
func TestChartsOfOverlays(t *testing.T) {
	files := withChart("base/charts/web", map[string]string{
		"over/kustomization.yaml": "namespace: shop\nnameSuffix: -x\nresources: [../base]\n",
		"base/kustomization.yaml": "resources: [pod.yaml]\nhelmCharts: [{name: web, releaseName: app, skipHooks: true}]\n",
		"base/pod.yaml":           "{apiVersion: v1, kind: Pod, metadata: {name: plain}}\n",
	})
	s, _ := sourceOf(files, render.Options{})
	result := s.Render(context.Background(), at("over"))
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	if got := names(result); got != "ConfigMap/app-web-x Pod/plain-x" {
		t.Errorf("objects %s", got)
	}
	for i, want := range []any{nil, "shop"} {
		if got, _ := origin.Field(result.Objects[i].Content(), "metadata.namespace"); got != want {
			t.Errorf("object %d is in namespace %v, want %v", i, got, want)
		}
	}
	if got, _ := origin.Field(result.Objects[0].Content(), "data.namespace"); got != "shop" {
		t.Errorf("the chart is in namespace %v", got)
	}
	if strings.Contains(string(result.Objects[0].JSON), "internal.config") {
		t.Errorf("marks are left: %s", result.Objects[0].JSON)
	}
}

// TestChartsNotEnabled checks that charts are not inflated unless they are enabled.
// TestAbsentCharts checks that a kustomization is built without an unavailable chart and with patches of the
// chart's objects; if nothing else is in it, it is refused.
func TestAbsentCharts(t *testing.T) {
	const chart = `helmCharts: [{name: web, repo: "https://charts.example.com", version: 1.0.0}]
patches:
- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}'
`
	files := map[string]string{
		"app/kustomization.yaml":   "resources: [map.yaml]\nnamespace: shop\n" + chart,
		"app/map.yaml":             "{apiVersion: v1, kind: ConfigMap, metadata: {name: beside}}\n",
		"alone/kustomization.yaml": chart,
		"above/kustomization.yaml": "resources: [../app]\nnamePrefix: x-\n",
	}
	source, _ := sourceOf(files, render.Options{})
	for dir, want := range map[string]string{"app": "ConfigMap/beside", "above": "ConfigMap/x-beside", "alone": ""} {
		r := source.Render(t.Context(), at(dir))
		problem := r.Problem
		if want != "" && problem == nil {
			if r.Lacks == nil {
				t.Errorf("%s: nothing says that the chart is not there", dir)
				continue
			}
			problem = &render.Problem{Position: r.Lacks.Position, Message: r.Lacks.Why}
		}
		if got := names(r); got != want {
			t.Errorf("%s: objects %q, want %q; %v", dir, got, want, r.Problem)
		}
		file := dir + "/kustomization.yaml"
		if dir == "above" {
			file = "app/kustomization.yaml"
		}
		if problem == nil || problem.Path != file || problem.Line == 0 || !strings.Contains(problem.Message, "name web, version 1.0.0 is not there: no charts were given") {
			t.Errorf("%s: %v", dir, problem)
		}
	}
}

func TestChartsNotEnabled(t *testing.T) {
	s, _ := sourceOf(withChart("charts/web", map[string]string{"kustomization.yaml": "helmCharts: [{name: web}]"}), render.Options{NoCharts: "Helm is not enabled"})
	if p := s.Render(context.Background(), at(".")).Problem; p == nil || p.Kind != render.ProblemFailed || p.Message != "Helm is not enabled" {
		t.Errorf("problem %v", p)
	}
}

// TestChartOrigins checks the lines of objects of inflated charts.
func TestChartOrigins(t *testing.T) {
	files := withChart("base/charts/web", map[string]string{
		"over/kustomization.yaml": "resources: [../base]\nnamePrefix: a-\npatches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: app-web}\n    data:\n      api: patched\n",
		"base/kustomization.yaml": "helmCharts:\n- name: web\n  releaseName: app\n  skipHooks: true\n  valuesInline:\n    size: 7\n  valuesFile: v.yaml\n",
		"base/v.yaml":             "list: [b]\nnested:\n  a: 3\n",
	})
	s, _ := sourceOf(files, render.Options{})
	result := s.Render(context.Background(), at("over"))
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	origins, err := s.Origins(context.Background(), result)
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"data.size": "base/kustomization.yaml:6:11", "data.nested": "base/v.yaml:3:6", "data.literal": "base/charts/web/templates/all.yaml:12",
		"data.api": "over/kustomization.yaml:9:12", "metadata.name": "over/kustomization.yaml:2:13", "kind": "base/charts/web/templates/all.yaml:2",
	} {
		if place := origins[0].Place(field, origin.Whole); place.Position.String() != want || !place.Found() {
			t.Errorf("%s is at %s (found: %v), want %s", field, place.Position, place.Found(), want)
		}
	}
	if at := origins[0].Document(); at.Path != "base/charts/web/templates/all.yaml" {
		t.Errorf("the object is at %s", at)
	}
}

// TestChanceInCharts checks that random values of a chart are unknown after kustomize.
func TestChanceInCharts(t *testing.T) {
	files := withChart("charts/web", map[string]string{
		"kustomization.yaml": "namePrefix: a-\nhelmCharts: [{name: web, releaseName: app, skipHooks: true}]",
	})
	files["charts/web/templates/chance.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {x: {{ randAlpha 5 }}, z: \"1\"}\n"
	s, _ := sourceOf(files, render.Options{})
	result := s.Render(context.Background(), at("."))
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	found := false
	for _, o := range result.Objects {
		_, name := o.KindAndName()
		found = found || name == "a-c"
		if unknown := name == "a-c"; unknown != (len(o.Unknown) == 1) || unknown && strings.Join(o.Unknown[0].Path, ".") != "data.x" {
			t.Errorf("%s has unknown fields %v", name, o.Unknown)
		}
	}
	if !found {
		t.Error("there is no object a-c")
	}
}

// TestChanceInKindsAndLists checks that what is unknown of a chart is so after kustomize when it is called kind, is
// the number of elements or keys, or the whole object.
func TestChanceInKindsAndLists(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	for text, want := range map[string]string{
		"data: {kind: {{ randAlpha 5 }}, x: \"1\"}\n":                                                "data.kind",
		"list:\n{{- range until (randInt 1 1000 | int) }}\n- {kind: a, apiVersion: b}\n{{- end }}\n": "list",
		"list: [{{ range until (randInt 1 1000 | int) }}[],{{ end }}]\n":                             "list",
		"data:\n  {{ randAlpha 5 }}: a\n  kind: b\n":                                                 "data",
		"{{ randAlpha 5 }}: a\n":                                                                     "",
	} {
		s, _ := sourceOf(map[string]string{
			"kustomization.yaml":          "namePrefix: a-\nhelmCharts: [{name: web, releaseName: app, skipHooks: true}]",
			"charts/web/Chart.yaml":       chartFiles["Chart.yaml"],
			"charts/web/values.yaml":      chartFiles["values.yaml"],
			"charts/web/templates/x.yaml": object + text,
		}, render.Options{})
		result := s.Render(context.Background(), at("."))
		if result.Problem != nil || len(result.Objects) != 1 {
			t.Fatalf("%s: %v", text, result.Problem)
		}
		if unknown := result.Objects[0].Unknown; len(unknown) != 1 || strings.Join(unknown[0].Path, ".") != want {
			t.Errorf("%s: unknown fields %v, want %q", text, unknown, want)
		}
	}
}

// archives are fetched charts.
type archives map[artifact.Artifact]string

func (a archives) Tree(artifact.Artifact) (fs.FS, artifact.Pin, error) {
	return nil, artifact.Pin{}, fs.ErrNotExist
}
func (a archives) Artifacts() []artifact.Artifact { return nil }
func (a archives) Bytes(asked artifact.Artifact) ([]byte, artifact.Pin, error) {
	if data, ok := a[asked]; ok {
		return []byte(data), artifact.Pin{Digest: tree.ObjectID([]byte(data))}, nil
	}
	return nil, artifact.Pin{}, &artifact.MissingError{Artifact: asked, Why: "it is not in the lock", Hint: "preadmit fetch adds it"}
}

// TestFetchedCharts checks that archives are used, and that another archive is another input.
func TestFetchedCharts(t *testing.T) {
	asked := artifact.Artifact{Kind: artifact.Chart, URL: "https://example.com/charts", Name: "web", Version: "1.0.0"}
	fsys := fstest.MapFS{"kustomization.yaml": &fstest.MapFile{Data: []byte("helmCharts:\n- name: web\n  releaseName: app\n  repo: https://example.com/charts\n  version: 1.0.0\n  skipHooks: true\n  valuesInline: {size: 4}\n")}}
	packed := func(literal string) string {
		var files []string
		for name, text := range chartFiles {
			files = append(files, "web/"+name, strings.Replace(text, "literal: chart", "literal: "+literal, 1))
		}
		return string(pack(t, files...))
	}
	one, two := tree.New(overlay.WithCharts(fsys, archives{asked: packed("one")}), tree.Limits{}), tree.New(overlay.WithCharts(fsys, archives{asked: packed("two")}), tree.Limits{})
	s := kustomize.New(one, render.Options{})
	result := s.Render(context.Background(), at("."))
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	if got, _ := origin.Field(result.Objects[0].Content(), "data.literal"); got != "one" {
		t.Errorf("literal is %v", got)
	}
	origins, err := s.Origins(context.Background(), result)
	if err != nil {
		t.Fatal(err)
	}
	if at := origins[0].Place("data.size", origin.Whole); at.Position.String() != "kustomization.yaml:7:24" {
		t.Errorf("the size is at %s", at.Position)
	}
	for field, want := range map[string]string{
		"data.literal": "it is made by chart web 1.0.0 templates/all.yaml:12",
		"data.nested":  "it is made by chart web 1.0.0 templates/all.yaml:8 <- values.yaml:3 (default)",
	} {
		if at := origins[0].Place(field, origin.Whole); at.Position.String() != "kustomization.yaml:5:12" || at.Why != want || at.Found() {
			t.Errorf("%s is at %s: %s", field, at.Position, at.Why)
		}
	}
	a, b := s.Needs(at(".")), kustomize.New(two, render.Options{}).Needs(at("."))
	if len(a.Artifacts) != 1 || a.Artifacts[0].Requested() != asked {
		t.Errorf("needs %v", a.Artifacts)
	}
	if strings.Join(a.Trace.Entries(), "\n") == strings.Join(b.Trace.Entries(), "\n") {
		t.Error("roots with other archives need the same")
	}
	if p := kustomize.New(tree.New(overlay.WithCharts(fsys, archives{}), tree.Limits{}), render.Options{}).Render(context.Background(), at(".")).Problem; p == nil || p.Kind != render.ProblemRefused || !strings.Contains(p.Error(), "preadmit fetch adds it") {
		t.Errorf("problem %v", p)
	}
}

// pack makes an archive from pairs of names and contents.
func pack(t *testing.T, files ...string) []byte {
	t.Helper()
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	archive := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		if err := archive.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}
