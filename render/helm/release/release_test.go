package release_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/tree"
)

// rendered renders a chart of files for a HelmRelease, given as JSON.
func rendered(t *testing.T, files map[string]string, helmRelease string, upgrade bool) (*release.Rendered, error) {
	t.Helper()
	fsys := fstest.MapFS{"Chart.yaml": {Data: []byte("{apiVersion: v2, name: app, version: 1.0.0}")}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := chart.FromTree(tree.New(fsys, tree.Limits{}), ".", chart.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := release.ParseHelmRelease([]byte(helmRelease))
	if err != nil {
		t.Fatal(err)
	}
	user, err := h.Values(nil)
	if err != nil {
		t.Fatal(err)
	}
	capabilities, err := values.Capabilities("v1.34.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.Release(release.NewChart(c), user, capabilities, upgrade).Render(t.Context())
}

const head = `{"metadata": {"name": "web", "namespace": "apps"}, "spec": `

func configMap(name, more string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n%s", name, more)
}

func names(objects []*release.Object) string {
	var all []string
	for _, o := range objects {
		var content struct {
			Metadata struct{ Name string }
			Kind     string
		}
		_ = json.Unmarshal(o.JSON, &content)
		all = append(all, content.Kind+"/"+content.Metadata.Name)
	}
	return strings.Join(all, " ")
}

func TestRelease(t *testing.T) {
	hook := "  annotations: {helm.sh/hook: \"pre-install, test\", helm.sh/hook-weight: \"-5\"}\n"
	files := map[string]string{
		"templates/a.yaml": configMap("a", "data: {upgrade: \"{{ .Release.IsUpgrade }}\", name: {{ .Release.Name }}, image: x}\n---\n"+
			"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n---apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"),
		"templates/hook.yaml":  configMap("hook", hook),
		"templates/other.yaml": configMap("other", "  annotations: {helm.sh/hook: crd-install}\n"),
		"templates/NOTES.txt":  "not: [YAML",
		"templates/_x.tpl":     "{{ define \"x\" }}{{ end }}",
		"templates/empty.yaml": "{{ if .Values.no }}x{{ end }}",
		"crds/x.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: xs.example.com}\n" +
			"---\n" + configMap("not-applied", ""),
	}
	r, err := rendered(t, files, head+`{"targetNamespace": "other", "commonMetadata": {"labels": {"team": "x", "helm.toolkit.fluxcd.io/name": "no"}},
		"postRenderers": [{"kustomize": {"patches": [{"target": {"kind": "ConfigMap"}, "patch": "- {op: add, path: /data, value: {patched: \"1\"}}"}]}}]}}`, false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(r.Objects), "Namespace/a ConfigMap/a Service/a"; got != want {
		t.Errorf("objects %s, want %s", got, want)
	}
	if got, want := names(r.Hooks), "ConfigMap/hook"; got != want || strings.Join(r.Hooks[0].Events, " ") != "pre-install test" || r.Hooks[0].Weight != -5 {
		t.Errorf("hooks %s %v", got, r.Hooks)
	}
	if got, want := names(r.CRDs), "CustomResourceDefinition/xs.example.com"; got != want {
		t.Errorf("definitions %s, want %s", got, want)
	}
	want := `{"apiVersion":"v1","data":{"patched":"1"},"kind":"ConfigMap","metadata":{"annotations":{"meta.helm.sh/release-name":"other-web","meta.helm.sh/release-namespace":"other"},` +
		`"labels":{"app.kubernetes.io/managed-by":"Helm","helm.toolkit.fluxcd.io/name":"web","helm.toolkit.fluxcd.io/namespace":"apps","team":"x"},"name":"a"}}`
	if got := string(r.Objects[1].JSON); got != want {
		t.Errorf("object %s, want %s", got, want)
	}
	if got := string(r.Hooks[0].JSON); strings.Contains(got, "meta.helm.sh") || !strings.Contains(got, `"patched":"1"`) {
		t.Errorf("hook %s", got)
	}
}

func TestUpgrade(t *testing.T) {
	files := map[string]string{
		"templates/a.yaml": configMap("{{ .Release.Name }}", "data: {upgrade: \"{{ .Release.IsUpgrade }} {{ .Release.IsInstall }} {{ .Release.Revision }}\"}"),
		"crds/x.yaml":      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: xs.example.com}\n",
	}
	r, err := rendered(t, files, head+`{"releaseName": "`+strings.Repeat("a", 60)+`"}}`, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Objects[0].JSON); !strings.Contains(got, `"upgrade":"true false 2"`) || !strings.Contains(got, `"name":"`+strings.Repeat("a", 40)+`-11ee391211c6"`) {
		t.Errorf("object %s", got)
	}
	if len(r.CRDs) != 0 {
		t.Errorf("an upgrade applies %s", names(r.CRDs))
	}
}

// TestStrategies checks which objects pass post-renderers.
func TestStrategies(t *testing.T) {
	files := map[string]string{
		"templates/a.yaml": configMap("a", ""), "templates/hook.yaml": configMap("a", "  annotations: {helm.sh/hook: test}\n"),
	}
	for strategy, want := range map[string]string{"": "already registered id", "combined": "already registered id", "separate": "true true", "nohooks": "true false"} {
		r, err := rendered(t, files, head+`{"postRenderStrategy": "`+strategy+`", "commonMetadata": {"labels": {"team": "x"}}}}`, false)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(strings.Contains(string(r.Objects[0].JSON), "team"), " ", strings.Contains(string(r.Hooks[0].JSON), "team"))
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", strategy, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	for _, test := range []struct{ name, template, spec, want string }{
		{"template", "a: 1\nb: {{ fail \"no\" }}", `{}`, "app/templates/a.yaml:2: no"},
		{"output", "a: 1\n{{ if true }}\nb: [\n{{ end }}", `{}`, "app/templates/a.yaml:3: the output is not valid YAML"},
		{"no name", "apiVersion: v1\nkind: ConfigMap", `{}`, "app/templates/a.yaml:1: missing metadata.name in object v1 ConfigMap"},
		{"aliases", "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]", `{}`, "nodes"},
		{"name", configMap("a", ""), `{"releaseName": "No"}`, `release name "No": `},
		{"patch", configMap("a", ""), `{"postRenderers": [{"kustomize": {"patches": [{"patch": "- {op: test, path: /a, value: 1}", "target": {"kind": "ConfigMap"}}]}}]}`, "postRenderers[0] cannot be applied"},
		{"too many patches", strings.Repeat(configMap("a", "---\n"), 400), `{"postRenderers": [{"kustomize": {"patches": [` + strings.TrimSuffix(strings.Repeat(`{"patch": "x"},`, 400), ",") + `]}}]}`, "more than the limit"},
	} {
		_, err := rendered(t, map[string]string{"templates/a.yaml": test.template}, head+test.spec+"}", false)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
	if _, err := rendered(t, map[string]string{"Chart.yaml": "{apiVersion: v2, name: app, version: 1.0.0, kubeVersion: \">=1.40.0\"}"}, head+"{}}", false); err == nil || !strings.Contains(err.Error(), "incompatible with Kubernetes v1.34.0") {
		t.Errorf("error %v for a chart of another Kubernetes", err)
	}
}

// TestCustomKinds checks that an error counts only if it also occurs in a cluster that serves more custom
// kinds.
func TestCustomKinds(t *testing.T) {
	unless := func(asks string) string {
		return "{{ if not (" + asks + ") }}{{ fail \"no kinds\" }}{{ end }}" + configMap("a", "")
	}
	for _, test := range []struct {
		name, template string
		refused        bool
	}{
		{"a custom group", unless(`.Capabilities.APIVersions.Has "monitoring.example.com/v1"`), true},
		{"a custom kind", unless(`.Capabilities.APIVersions.Has (printf "%s/%s" "monitoring.example.com/v1" "Monitor")`), true},
		{"another error then", unless(`.Capabilities.APIVersions.Has "monitoring.example.com/v1"`) + `{{ fail "no values" }}`, true},
		{"a version of Kubernetes that is gone", unless(`.Capabilities.APIVersions.Has "networking.k8s.io/v9"`), false},
		{"a kind that is gone", unless(`.Capabilities.APIVersions.Has "policy/v1/PodSecurityPolicy"`), false},
		{"no version of a group", unless(`.Capabilities.APIVersions.Has "monitoring.example.com"`), false},
		{"another error", `{{ $x := .Capabilities.APIVersions.Has "monitoring.example.com/v1" }}{{ fail "no values" }}`, false},
	} {
		_, err := rendered(t, map[string]string{"templates/a.yaml": test.template}, head+"{}}", false)
		if p := new(release.Problem); !errors.As(err, &p) || p.Refused != test.refused {
			t.Errorf("%s: error %v, want one that is indeterminate: %v", test.name, err, test.refused)
		}
	}
}

// TestUnknown checks which fields are unknown.
func TestUnknown(t *testing.T) {
	for _, test := range []struct{ name, template, want string }{
		{"nothing", configMap("a", "data: {x: \"1\"}"), "[]"},
		{"random", configMap("a", "data: {x: {{ randAlphaNum 5 }}, y: \"1\"}"), "[[data x]]"},
		{"hashed", configMap("a", "data: {x: {{ randAlphaNum 5 | sha256sum | trunc 6 | quote }}, y: \"{{ upper \"a\" }}\"}"), "[[data x]]"},
		{"name", configMap("a-{{ randAlpha 5 | lower }}", ""), "[[metadata name]]"},
		{"clock in a key", configMap("a", "data: {x{{ now | unixEpoch }}: \"1\"}"), "[[data]]"},
		{"condition", configMap("a", "data: {{ if (eq (now | date \"2006\") \"0001\") }}{x: \"1\"}{{ else }}{x: \"2\"}{{ end }}"), "[[data x]]"},
		{"drawn and not used", configMap("a", "{{ $x := uuidv4 }}data: {y: \"1\"}"), "[]"},
		{"kept by lookup", configMap("a", "data: {{ $old := lookup \"v1\" \"Secret\" \"x\" \"y\" }}{x: {{ if $old }}old{{ else }}new{{ end }}}"), "[[data x]]"},
		{"lookup of more than is known", configMap("a", "data: {{ $old := lookup \"v1\" \"Secret\" \"x\" \"y\" }}{x: {{ if $old }}{{ $old.data.a.b }}{{ end }}}"), "[[]]"},
	} {
		r, err := rendered(t, map[string]string{"templates/a.yaml": test.template}, head+"{}}", false)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		paths := [][]string{}
		for _, u := range r.Objects[0].Unknown {
			paths = append(paths, u.Path)
		}
		if got := fmt.Sprint(paths); got != test.want {
			t.Errorf("%s: unknown are %s, want %s", test.name, got, test.want)
		}
	}
}

// TestDirect checks that objects which do not need kustomize are the same as with it: a group of documents
// with something that has a meaning for kustomize gives the same result.
func TestDirect(t *testing.T) {
	hook := "    helm.sh/hook: pre-install\n"
	for _, test := range []struct{ name, metadata string }{
		{"nothing", ""},
		{"annotations are null", "  annotations:\n"},
		{"labels are null", "  labels:\n"},
		{"both are null", "  labels: null\n  annotations: ~\n"},
		{"both are empty", "  labels: {}\n  annotations: {}\n"},
		{"both are there", "  labels: {a: b}\n  annotations: {c: d}\n"},
		{"a hook", "  annotations:\n" + hook},
		{"a hook with labels that are null", "  labels:\n  annotations:\n" + hook},
	} {
		for _, spec := range []string{`{}`, `{"commonMetadata": {"labels": {"team": "x"}, "annotations": {"owner": "y"}}}`, `{"postRenderStrategy": "nohooks"}`} {
			var made [2]string
			for i, beside := range []string{"kustomize", "config.kubernetes.io"} {
				r, err := rendered(t, map[string]string{
					"templates/a.yaml": configMap("a", test.metadata),
					"templates/b.yaml": configMap("b", "  annotations: {helm.sh/hook: pre-install, beside: "+beside+"}\n---\n"+configMap("c", "data: {beside: "+beside+"}\n")),
				}, head+spec+"}", false)
				if err != nil {
					t.Fatalf("%s, %s: %v", test.name, spec, err)
				}
				for _, o := range append(r.Hooks, r.Objects...) {
					if names([]*release.Object{o}) == "ConfigMap/a" {
						made[i] = string(o.JSON)
					}
				}
			}
			if made[0] != made[1] || made[0] == "" {
				t.Errorf("%s, %s: %s, with kustomize %s", test.name, spec, made[0], made[1])
			}
		}
	}
}
