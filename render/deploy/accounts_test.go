package deploy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/deploy"
)

// controller returns the Deployment of a controller with arguments.
func controller(name, args string) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: flux-system}\nspec: {template: {spec: {containers: [{name: manager, args: [%s]}]}}}\n", name, args)
}

// tenants are objects of a cluster whose units are applied by accounts.
const tenants = `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: one, namespace: one}
spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: two, namespace: two}
spec: {path: ./apps, serviceAccountName: own, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: three, namespace: three}
spec: {chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: none}}}}
---
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: four, namespace: four}
spec: {resources: []}
`

// TestAccounts checks which users apply units, depending on the arguments of the controllers in the repository.
func TestAccounts(t *testing.T) {
	const (
		flux = "flux-system/flux-system="
		none = flux + " one/one= two/two=two:own three/three=flux-system:helm-controller four/four=flux-system:flux-operator"
	)
	tests := []struct{ name, files, want, gap string }{{
		name:  "nothing",
		files: gotkSync + tenants + controller("kustomize-controller", "--log-level=info"),
		want:  none,
	}, {
		name:  "all controllers",
		files: gotkSync + tenants + controller("kustomize-controller", "--default-service-account=a") + controller("helm-controller", "--default-service-account, b") + controller("flux-operator", "--default-service-account=x, --default-service-account=c"),
		want:  "flux-system/flux-system=flux-system:a one/one=one:a two/two=two:own three/three=three:b four/four=four:c",
	}, {
		name:  "a patch, and one that excepts the entry point",
		files: gotkSync + tenants + "-- start/flux-system/gotk-components.yaml --\n" + controller("kustomize-controller", "--log-level=info") + "-- start/flux-system/kustomization.yaml --\nresources: [gotk-components.yaml, gotk-sync.yaml]\n" + lockdown,
		want:  "flux-system/flux-system=flux-system:kustomize-controller one/one=one:default two/two=two:own three/three=flux-system:helm-controller four/four=flux-system:flux-operator",
	}, {
		name:  "another cluster",
		files: gotkSync + tenants + "-- other/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./other", "") + controller("kustomize-controller", "--default-service-account=a"),
		want:  none,
	}, {
		name:  "a unit of the cluster",
		files: gotkSync + tenants + "---\n" + kustomization("flux", "./flux", "  serviceAccountName: flux\n") + "-- flux/all.yaml --\n" + controller("kustomize-controller", "--default-service-account=a"),
		want:  "flux-system/flux-system=flux-system:a one/one=one:a two/two=two:own three/three=flux-system:helm-controller four/four=flux-system:flux-operator flux-system/flux=flux-system:flux",
	}, {
		name: "a variable",
		files: gotkSync + tenants + "---\n" + kustomization("flux", "./flux", "  serviceAccountName: flux\n  postBuild: {substituteFrom: [{kind: Secret, name: x}]}\n") + "-- flux/all.yaml --\n" +
			controller("kustomize-controller", "'--log-level=${L}', '--default-service-account=${A}'") + controller("helm-controller", "'--log-level=${L}', --default-service-account=b"),
		want: "flux-system/flux-system= one/one= two/two=two:own three/three=three:b four/four=flux-system:flux-operator flux-system/flux=flux-system:flux",
		gap:  "which service account applies the objects is not known, --default-service-account of kustomize-controller: it holds ${A}",
	}, {
		name:  "a FluxInstance with tenants",
		files: "-- deploy/instance.yaml --\n" + instance(" []\n  cluster: {multitenant: true}\n") + "-- prod/all.yaml --\n" + tenants,
		want:  "flux-system/flux-system=flux-system:kustomize-controller one/one=one:default two/two=two:own three/three=three:default four/four=flux-system:flux-operator",
	}, {
		name: "a FluxInstance with patches of the controllers",
		files: "-- prod/instance.yaml --\n" + instance(`
    - target: {kind: Deployment, name: source-controller}
      patch: "- {op: remove, path: /spec/nothing}"
    - patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: helm-controller, namespace: flux-system}, spec: {template: {spec: {containers: [{name: manager, args: [--default-service-account=b]}]}}}}'
    - target: {kind: Deployment, name: (kustomize|other)-controller}
      patch: "- {op: add, path: /spec/template/spec/containers/0/args/-, value: --default-service-account=a}"
  cluster: {multitenant: true, tenantDefaultServiceAccount: x}
`) + "-- prod/all.yaml --\n" + tenants,
		want: "flux-system/flux-system=flux-system:kustomize-controller one/one=one:a two/two=two:own three/three=three:b four/four=flux-system:flux-operator",
	}, {
		name:  "a FluxInstance whose patches cannot be applied",
		files: "-- prod/instance.yaml --\n" + instance("\n    - {target: {kind: Deployment}, patch: '- {op: add, path: /spec/none/args/-, value: --default-service-account}'}\n") + "-- prod/all.yaml --\n" + tenants,
		want:  none,
		gap:   "which service account applies the objects is not known, --default-service-account of kustomize-controller: the patches of the FluxInstance cannot be applied",
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, graph := expand(t, files(test.files+"-- apps/a.yaml --\n"+aConfigMap), deploy.Options{})
			users := map[string]string{}
			for _, root := range graph.Units {
				if root.Cluster == "start" || root.Cluster == "prod" {
					users[root.Object.Namespace+"/"+root.Object.Name] = strings.TrimPrefix(root.Unit.Apply.User, "system:serviceaccount:")
				}
			}
			want := map[string]string{}
			for field := range strings.FieldsSeq(test.want) {
				name, user, _ := strings.Cut(field, "=")
				want[name] = user
			}
			if diff := cmp.Diff(want, users); diff != "" {
				t.Error(diff)
			}
			gaps := ""
			for _, gap := range graph.Gaps {
				gaps += gap.Why + "\n"
			}
			if test.gap == "" && gaps != "" || !strings.Contains(gaps, test.gap) {
				t.Errorf("gaps: %s", gaps)
			}
		})
	}
}

// gotkSync is the beginning of a cluster's directory; its objects follow.
var gotkSync = "-- start/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./start", "") + "-- start/all.yaml --\n"

// lockdown are the patches of Flux's multi-tenancy lockdown.
const lockdown = `patches:
- target: {kind: Deployment, name: kustomize-controller}
  patch: "- {op: add, path: /spec/template/spec/containers/0/args/-, value: --default-service-account=default}"
- target: {kind: Kustomization}
  patch: "- {op: add, path: /spec/serviceAccountName, value: kustomize-controller}"
`
