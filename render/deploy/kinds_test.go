package deploy_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render/deploy"
)

// TestKindsOfApplications checks which custom kinds charts of Applications see: those that the repository deploys to
// their cluster.
func TestKindsOfApplications(t *testing.T) {
	const (
		crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: monitors.example.com}\nspec:\n  group: example.com\n  scope: Cluster\n" +
			"  names: {kind: Monitor, plural: monitors}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"
		chart   = "Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\n"
		monitor = "{{- if .Capabilities.APIVersions.Has \"example.com/v1/Monitor\" }}\napiVersion: example.com/v1\nkind: Monitor\nmetadata: {name: web}\n{{- end }}\n"
		options = "\n-- argocd-cm.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata: {kustomize.buildOptions: --enable-helm}\n"
		isThere = `{"apiVersion":"example.com/v1","kind":"Monitor","metadata":{"annotations":{"argocd.argoproj.io/tracking-id":"web:example.com/Monitor:argocd/web"},"name":"web"}}`
	)
	web := "\n-- apps/web.yaml --\n" + application("web", "web") + "\n-- web/" + chart + "\n-- web/templates/a.yaml --\n" + monitor
	named := strings.Replace(web, `"example.com/v1/Monitor"`, `(include "monitoring" .)`, 1) + "\n-- web/templates/_a.tpl --\n{{- define \"monitoring\" }}{{ print \"example.com/v1\" }}{{ end }}\n"
	inflated := "\n-- apps/web.yaml --\n" + application("web", "web") + "\n-- web/kustomization.yaml --\nhelmCharts: [{name: c}]\n-- web/charts/c/" + chart +
		"-- web/charts/c/values.yaml --\na: b\n-- web/charts/c/templates/a.yaml --\n" + monitor
	crds := "\n-- apps/crds.yaml --\n" + application("crds", "crds")
	own := "\n-- crds/crd.yaml --\n" + crd
	for _, test := range []struct {
		name, files string
		served      []string
		want        string
	}{
		{"none", web, nil, ""},
		{"a directory", web + crds + own, nil, isThere},
		{"a chart", web + crds + "\n-- crds/" + chart + "-- crds/crds/crd.yaml --\n" + crd, nil, isThere},
		{"templates of a chart", web + crds + "\n-- crds/" + chart + "-- crds/templates/crd.yaml --\n" + crd, nil, isThere},
		{"an Application of an Application", web + "\n-- apps/more.yaml --\n" + application("more", "more") + "\n-- more/crds.yaml --\n" + application("crds", "crds") + own, nil, isThere},
		{"by hand", web + "\n-- apps/crd.yaml --\n" + crd, nil, isThere},
		{"nothing applies it", web + own, nil, ""},
		{"another cluster", web + strings.Replace(crds, "name: in-cluster", "name: other", 1) + own, nil, ""},
		{"another group", web + crds + strings.ReplaceAll(own, "example.com", "example.org"), nil, ""},
		{"the configuration", web + crds + own, []string{"example.org/v1"}, ""},
		{"its own definition", web + "\n-- web/crds/crd.yaml --\n" + crd, nil, isThere},
		{"kustomize", inflated + options + crds + own, nil, isThere},
		{"kustomize without", inflated + options, nil, ""},
		{"by a value", strings.Replace(strings.Replace(web, `"example.com/v1/Monitor"`, "(print .Values.group)", 1), "path: web}", "path: web, helm: {parameters: [{name: group, value: example.com/v1}]}}", 1) +
			"\n-- web/templates/b.yaml --\n{{- if .Capabilities.APIVersions.Has \"example.net/v1\" }}{{ end }}\n" + crds + own, nil, isThere},
		{"by a template", named + crds + own, nil, isThere},
		{"by a value of the Application", strings.NewReplacer(`"example.com/v1/Monitor"`, "$group", "{{- if", "{{- $group := .Values.group }}\n{{- if", "apiVersion: example.com/v1\n", "apiVersion: {{ $group }}\n",
			"path: web}", "path: web, helm: {parameters: [{name: group, value: example.com/v1}]}}").Replace(web) + crds + own, nil, isThere},
		{"of a group below k8s.io", strings.NewReplacer("example.com/v1", "autoscaling.k8s.io/v1", "group: example.com", "group: autoscaling.k8s.io").Replace(web + crds + own), nil, strings.ReplaceAll(isThere, "example.com/", "autoscaling.k8s.io/")},
		{"a chart that gives Applications", "\n-- apps/root.yaml --\n" + application("root", "root") + "\n-- root/" + chart + "\n-- root/templates/a.yaml --\n" + monitor +
			"\n-- root/templates/web.yaml --\n" + application("web", "web") + "\n-- root/templates/crds.yaml --\n" + application("crds", "crds") + own +
			"\n-- web/" + chart + "\n-- web/templates/a.yaml --\n" + monitor, nil, isThere},
	} {
		r, graph := expand(t, files(test.files), deploy.Options{Self: []string{"https://example.com/fleet"}, ArgoCD: deploy.ArgoCD{APIVersions: test.served}})
		result := r.Render(t.Context(), unit(t, graph, "Application/argocd/web (in-cluster)"))
		if result.Problem != nil {
			t.Errorf("%s: %v", test.name, result.Problem)
			continue
		}
		var got string
		for _, o := range result.Objects {
			if strings.Contains(string(o.JSON), `"kind":"Monitor","metadata"`) {
				got += string(o.JSON)
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
