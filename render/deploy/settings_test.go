package deploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
)

// TestSettingsOfArgoCD checks where the settings of Argo CD are found, and their effect on an Application.
func TestSettingsOfArgoCD(t *testing.T) {
	app := func(name, dir string) string {
		return fmt.Sprintf("-- apps/%s.yaml --\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s, namespace: argocd}\nspec:\n"+
			"  source: {repoURL: 'https://git.example.com/r', path: %s}\n  destination: {server: 'https://kubernetes.default.svc', namespace: x}\n", name, name, dir)
	}
	settings := func(name, namespace, data string) string {
		return fmt.Sprintf("-- %s --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: %s}\ndata: {%s}\n", name, namespace, data)
	}
	web := app("web", "web") + "-- web/kustomization.yaml --\nresources: [../other/cm.yaml, lease.yaml]\n-- other/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" +
		"-- web/lease.yaml --\napiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}\n"
	const outside, loose = "failed: other/cm.yaml is outside of web", "kustomize.buildOptions: --load-restrictor LoadRestrictionsNone"
	const marked = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"argocd.argoproj.io/tracking-id":"web:/ConfigMap:x/a"},"name":"a","namespace":"x"}}`
	charts := app("web", "web") + "-- web/kustomization.yaml --\nhelmCharts: [{name: c}]\n-- web/charts/c/Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\n" +
		"-- web/charts/c/values.yaml --\na: b\n-- web/charts/c/templates/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	broken := func(dir string) string {
		return app(dir, dir) + "-- " + dir + "/kustomization.yaml --\nresources: [cm.yaml, missing.yaml]\n" + settings(dir+"/cm.yaml", "argocd", "a: b")
	}
	secret := app("web", "web") + "-- web/secret.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"
	for _, test := range []struct {
		name, files, options, want, remark string
	}{
		{"none", web, "", outside, ""},
		{"the configuration", web, "--load-restrictor LoadRestrictionsNone", marked, ""},
		{"an Application", web + app("argocd", "argocd") + settings("argocd/cm.yaml", "argocd", loose), "", marked, ""},
		{"before the configuration", web + app("argocd", "argocd") + settings("argocd/cm.yaml", "argocd", loose), "--enable-helm", outside, ""},
		{"a chart", web + app("argocd", "argocd") + "-- argocd/Chart.yaml --\napiVersion: v2\nname: argo\nversion: 1.0.0\n-- argocd/values.yaml --\ncm: {" + loose + "}\n" +
			"-- argocd/templates/cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-cm\ndata: {{ toJson .Values.cm }}\n", "", marked, ""},
		{"a generator", web + app("argocd", "argocd") + "-- argocd/kustomization.yaml --\nnamespace: argocd\ngeneratorOptions: {disableNameSuffixHash: true}\n" +
			"configMapGenerator: [{name: argocd-cm, literals: ['kustomize.buildOptions=--load-restrictor=LoadRestrictionsNone']}]\n", "", marked, ""},
		{"an operator", web + app("argocd", "argocd") + "-- argocd/argocd.yaml --\napiVersion: argoproj.io/v1beta1\nkind: ArgoCD\nmetadata: {name: argocd, namespace: argocd}\n" +
			"spec: {kustomizeBuildOptions: --load-restrictor LoadRestrictionsNone}\n", "", marked, ""},
		{"extraConfig of an operator", web + app("argocd", "argocd") + "-- argocd/argocd.yaml --\napiVersion: argoproj.io/v1beta1\nkind: ArgoCD\nmetadata: {name: argocd, namespace: argocd}\n" +
			"spec: {kustomizeBuildOptions: --enable-helm, extraConfig: {" + loose + "}}\n", "", marked, ""},
		{"what nothing applies", web + settings("bootstrap/cm.yaml", "argocd", loose), "", marked, "Argo CD is taken to have the settings of bootstrap, which nothing in the repository applies"},
		{"two that differ", web + app("argocd", "argocd") + settings("argocd/cm.yaml", "argocd", loose) + app("more", "more") + settings("more/cm.yaml", "argocd", "a: b"), "", "refused: other/cm.yaml is outside of web",
			"have settings of Argo CD that differ, and which count is not known"},
		{"two that do not render", charts + broken("argocd") + broken("more"), "", "helmCharts are inflated by Argo CD only where kustomize.buildOptions have --enable-helm: Application/argocd/argocd (in-cluster)",
			"Application/argocd/argocd (in-cluster), which may have settings of Argo CD, does not render whole"},
		{"two that are the same", web + app("argocd", "argocd") + settings("argocd/cm.yaml", "argocd", loose) + app("more", "more") + settings("more/cm.yaml", "argocd", loose+", a: b"), "", marked, ""},
		{"another namespace", web + app("argocd", "argocd") + settings("argocd/cm.yaml", "argocd", loose) + app("more", "more") + settings("more/cm.yaml", "elsewhere", "a: b"), "", marked, ""},
		{"the label", web + settings("cm/cm.yaml", "argocd", loose+", application.resourceTrackingMethod: annotation+label, application.instanceLabelKey: example.com/app, installationID: one") + app("cm", "cm"), "",
			strings.NewReplacer(`{"argocd.argoproj.io`, `{"argocd.argoproj.io/installation-id":"one","argocd.argoproj.io`, `/a"},"name"`, `/a"},"labels":{"example.com/app":"web"},"name"`).Replace(marked), ""},
		{"exclusions", secret + settings("cm/cm.yaml", "argocd", "resource.exclusions: '[{kinds: [Secret], apiGroups: [\"\"], clusters: [\"https://*.svc\"]}]'") + app("cm", "cm"), "", "", ""},
		{"exclusions of another cluster", secret + settings("cm/cm.yaml", "argocd", "resource.exclusions: '[{kinds: [Secret], clusters: [\"https://a\"]}]'") + app("cm", "cm"), "", `"kind":"Secret"`, ""},
		{"inclusions", secret + settings("cm/cm.yaml", "argocd", "resource.inclusions: '[{kinds: [ConfigMap], apiGroups: [\"*\"]}]'") + app("cm", "cm"), "", "", ""},
		{"a tool that is off", web + settings("cm/cm.yaml", "argocd", "kustomize.enable: \"false\"") + app("cm", "cm"), "", "refused: Argo CD is set not to use Kustomize", ""},
		{"charts", charts + settings("cm/cm.yaml", "argocd", "kustomize.buildOptions: --enable-helm") + app("cm", "cm"), "", marked, ""},
		{"no charts", charts + settings("cm/cm.yaml", "argocd", "a: b") + app("cm", "cm"), "", "failed: helmCharts are inflated by Argo CD only where", ""},
		{"charts or none", charts, "", "refused: helmCharts are inflated by Argo CD only where kustomize.buildOptions have --enable-helm: the repository does not have its settings", ""},
		{"an option that is not followed", web, "--enable-managedby-label", "refused: kustomize.buildOptions of Argo CD have --enable-managedby-label", ""},
	} {
		r, graph := expand(t, files("\n"+test.files), deploy.Options{Self: []string{"https://git.example.com/r"}, ArgoCD: deploy.ArgoCD{BuildOptions: test.options}})
		result := r.Render(t.Context(), unit(t, graph, "Application/argocd/web (in-cluster)"))
		var got string
		if p := result.Problem; p != nil {
			got = string(p.Kind) + ": " + p.Message
		}
		for _, o := range result.Objects {
			got += string(o.JSON)
		}
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if strings.Contains(got, "Lease") {
			t.Errorf("%s: a Lease is applied", test.name)
		}
		isRemark := func(d render.Diagnostic) bool { return strings.Contains(d.Message, "settings") }
		if i := slices.IndexFunc(graph.Diagnostics, isRemark); test.remark == "" && i >= 0 || test.remark != "" && (i < 0 || !strings.Contains(graph.Diagnostics[i].Message, test.remark)) {
			t.Errorf("%s: remarks %v, want %s", test.name, graph.Diagnostics, test.remark)
		}
	}
}
