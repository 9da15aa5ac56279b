package deploy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
)

// TestParts checks that what deployers build of a kustomization with a remote component has the parts of that
// kustomization.
func TestParts(t *testing.T) {
	const refused = `
-- web/kustomization.yaml --
resources: [../base, a.yaml]
components: ["https://github.com/example/remote//c?ref=v1"]
-- web/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
-- base/kustomization.yaml --
resources: [b.yaml]
-- base/b.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
`
	for id, object := range map[string]string{
		"Kustomization/flux-system/web (clusters/prod)": "-- clusters/prod/web.yaml --\n" + syncOfProd + `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: flux-system}
spec: {path: ./web, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substitute: {A: b}}}
`,
		"Application/argocd/web (in-cluster)": `-- app.yaml --
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source: {repoURL: 'https://git.example.com/r', path: web, kustomize: {namePrefix: a-}}
  destination: {server: 'https://kubernetes.default.svc', namespace: x}
`,
	} {
		r, graph := expand(t, files(refused+object), deploy.Options{Self: []string{"https://git.example.com/r"}})
		root := unit(t, graph, id)
		if p := r.Render(t.Context(), root).Problem; p == nil || p.Kind != render.ProblemRefused {
			t.Fatalf("%s: problem %v", id, p)
		}
		var got []string
		for _, part := range r.Parts(root) {
			result := r.Render(t.Context(), part)
			got = append(got, fmt.Sprint(part.RootID, len(result.Objects), result.Problem))
		}
		if text := strings.Join(got, ", "); text != "base 1 <nil>, web 1 <nil>" {
			t.Errorf("%s: parts %s", id, text)
		}
	}
}

// syncOfProd is the Kustomization of Flux for clusters/prod, and its source.
const syncOfProd = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: 'https://git.example.com/r'}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/prod, sourceRef: {kind: GitRepository, name: flux-system}}
`
