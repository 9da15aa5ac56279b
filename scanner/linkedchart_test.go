package scanner_test

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/scanner"
)

// TestLinkedCharts checks that a symbolic link in charts/ to another chart is followed, as Helm does, and
// that the files of the other chart count as read. A source of Flux has no links, and source-controller uses
// the chart in `dependencies`.
func TestLinkedCharts(t *testing.T) {
	charts := `-- charts/library/Chart.yaml --
apiVersion: v2
name: library
version: 0.1.0
type: library
-- charts/web/Chart.yaml --
apiVersion: v2
name: web
version: 0.1.0
dependencies:
- {name: library, version: 0.1.0, repository: "file://../library"}
-- charts/web/templates/map.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  {{- include "library.data" . | nindent 2 }}
`
	for user, files := range map[string]string{
		"nobody": "",
		"Flux": `-- cluster/web.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  interval: 1h
  chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
-- cluster/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "https://github.com/acme/shop", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, path: ./cluster, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`,
		"Argo CD": `-- apps/web.yaml --
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  project: default
  source: {repoURL: "https://github.com/acme/shop", path: charts/web, targetRevision: HEAD}
  destination: {namespace: shop, server: "https://kubernetes.default.svc"}
`,
	} {
		t.Run(user, func(t *testing.T) {
			side := func(value string) fstest.MapFS {
				files := tree(charts + files + "-- charts/library/templates/_data.tpl --\n{{- define \"library.data\" }}a: " + value + "{{ end }}\n")
				files["charts/web/charts/library"] = &fstest.MapFile{Data: []byte("../../library"), Mode: fs.ModeSymlink | 0o777}
				return files
			}
			in := scanner.Input{Base: &scanner.Tree{FS: side("one")}, Head: scanner.Tree{FS: side("two")}, Capture: scanner.CaptureObjects}
			in.Remotes = []string{"https://github.com/acme/shop"}
			r := mustScan(t, in)
			var got []string
			for _, request := range r.Requests {
				if request.Subject.Kind == "ConfigMap" {
					got = append(got, fmt.Sprint(request.Operation, " ", request.Object["data"]))
				}
			}
			if want := []string{"UPDATE map[a:two]"}; !slices.Equal(got, want) {
				t.Errorf("requests %q, want %q; %q", got, want, reportLines(r))
			}
		})
	}
}
