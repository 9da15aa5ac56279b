package clusterconfig_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/scanner/clusterconfig"
	"github.com/preadmit/preadmit/scanner/release"
)

// written formats a setting as a line.
func written(s clusterconfig.Setting) string {
	return fmt.Sprintf("%s:%d %s", s.Path, s.Line, s.Version+release.Settings(s.FeatureGates)+release.Settings(s.RuntimeConfig))
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{name: "Talos", text: "version: v1alpha1\nmachine:\n  kubelet: {image: 'ghcr.io/siderolabs/kubelet:v1.34.2'}\ncluster:\n  apiServer:\n    image: registry.k8s.io/kube-apiserver:v1.34.2@sha256:ab\n    extraArgs:\n      feature-gates: HPAScaleToZero=true,ImageVolume=false\n      runtime-config: admissionregistration.k8s.io/v1beta1=true\n",
			want: []string{"f:6 v1.34.2", "f:8 HPAScaleToZero=true,ImageVolume=false", "f:9 admissionregistration.k8s.io/v1beta1=true"}},
		{name: "a worker of Talos", text: "machine:\n  kubelet:\n    image: ghcr.io/siderolabs/kubelet:v1.34.2\n", want: []string{"f:3 v1.34.2"}},
		{name: "another component of Talos", text: "cluster:\n  apiServer: {}\n  controllerManager:\n    extraArgs: {feature-gates: HPAScaleToZero=true}\n"},
		{name: "documents of Talos", text: "machine: {type: controlplane}\n---\napiVersion: v1alpha1\nkind: KubeAPIServerConfig\nextraArgs:\n  feature-gates: HPAScaleToZero=true\nimage: registry.k8s.io/kube-apiserver:v1.36.4\n---\napiVersion: v1alpha1\nkind: KubeControllerManagerConfig\nextraArgs: {feature-gates: ImageVolume=false}\n",
			want: []string{"f:6 HPAScaleToZero=true", "f:7 v1.36.4"}},
		{name: "a list of values", text: "cluster:\n  apiServer:\n    extraArgs:\n      feature-gates: [HPAScaleToZero=true, ImageVolume=false]\n", want: []string{"f:4 HPAScaleToZero=true,ImageVolume=false"}},
		{name: "a template", text: "cluster:\n  apiServer:\n    {% if ENV.KIND == 'controlplane' %}\n    extraArgs:\n      feature-gates: HPAScaleToZero=true\n    {% endif %}\n    image: registry.k8s.io/kube-apiserver:{{ ENV.VERSION }}\n  name: {{ ENV.NAME }}\n", want: []string{"f:5 HPAScaleToZero=true"}},
		{name: "talhelper", text: "clusterName: home\ntalosVersion: v1.11.0\nkubernetesVersion: v1.34.1\n", want: []string{"f:3 v1.34.1"}},
		{name: "patches of talhelper", text: "clusterName: home\nkubernetesVersion: v1.34.1\nnodes:\n- hostname: a\n  patches:\n  - '@./patch.yaml'\n  - cluster: {apiServer: {extraArgs: {feature-gates: ImageVolume=false}}}\ncontrolPlane:\n  patches:\n  - |-\n    cluster:\n      apiServer:\n        extraArgs:\n          runtime-config: api/beta=true\n  - '[{op: remove, path: /cluster}]'\npatches:\n- \"cluster: {apiServer: {extraArgs: {feature-gates: HPAScaleToZero=true}}}\"\n",
			want: []string{"f:2 v1.34.1", "f:7 ImageVolume=false", "f:14 api/beta=true", "f:17 HPAScaleToZero=true"}},
		{name: "Omni", text: "kind: Cluster\nname: a\nkubernetes: {version: v1.34.1}\ntalos: {version: v1.11.0}\n---\nkind: ControlPlane\npatches:\n- file: x.yaml\n- name: gates\n  inline: {cluster: {apiServer: {extraArgs: {feature-gates: HPAScaleToZero=true}}}}\n", want: []string{"f:3 v1.34.1", "f:10 HPAScaleToZero=true"}},
		{name: "a control plane of Talos", text: "apiVersion: controlplane.cluster.x-k8s.io/v1alpha3\nkind: TalosControlPlane\nspec:\n  version: v1.34.1\n  controlPlaneConfig:\n    controlplane:\n      strategicPatches:\n      - |\n        cluster:\n          apiServer:\n            extraArgs: {runtime-config: api/beta=true}\n", want: []string{"f:4 v1.34.1", "f:11 api/beta=true"}},
		{name: "a patch that contains itself", text: "clusterName: home\nkubernetesVersion: v1.34.1\nnodes: []\npatches: &a {clusterName: home, nodes: [], patches: *a}\n", want: []string{"f:2 v1.34.1"}},
		{name: "a variable", text: "talosVersion: v1.11.0\nkubernetesVersion: ${kubernetesVersion}\n"},
		{name: "kubeadm", text: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: 1.35.0\napiServer:\n  extraArgs:\n  - {name: feature-gates, value: ImageVolume=true}\n  - name: runtime-config\n    value: api/beta=true\n",
			want: []string{"f:3 v1.35.0", "f:6 ImageVolume=true", "f:8 api/beta=true"}},
		{name: "a control plane of Cluster API", text: "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nspec:\n  version: v1.33.4\n  kubeadmConfigSpec: {clusterConfiguration: {apiServer: {extraArgs: {runtime-config: api/beta=true}}}}\n", want: []string{"f:4 v1.33.4", "f:5 api/beta=true"}},
		{name: "a control plane of RKE2", text: "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: RKE2ControlPlane\nspec: {version: v1.33.4+rke2r1}\n", want: []string{"f:3 v1.33.4"}},
		{name: "a topology", text: "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nspec: {topology: {version: v1.33.4}}\n", want: []string{"f:3 v1.33.4"}},
		{name: "a machine, which has a version of its own", text: "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Machine\nspec: {version: v1.33.4}\n"},
		{name: "kOps", text: "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec:\n  kubernetesVersion: 1.34.0\n  kubeAPIServer:\n    featureGates: {HPAScaleToZero: \"true\"}\n    runtimeConfig: {batch/v2alpha1: \"true\"}\n", want: []string{"f:4 v1.34.0", "f:6 HPAScaleToZero=true", "f:7 batch/v2alpha1=true"}},
		{name: "eksctl", text: "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: a, version: \"1.34\"}\n", want: []string{"f:3 v1.34"}},
		{name: "Gardener", text: "apiVersion: core.gardener.cloud/v1beta1\nkind: Shoot\nspec: {kubernetes: {version: 1.34.3, kubeAPIServer: {featureGates: {HPAScaleToZero: true}}}}\n", want: []string{"f:3 v1.34.3", "f:3 HPAScaleToZero=true"}},
		{name: "k0sctl", text: "apiVersion: k0sctl.k0sproject.io/v1beta1\nkind: Cluster\nspec: {k0s: {version: v1.34.1+k0s.0}}\n", want: []string{"f:3 v1.34.1"}},
		{name: "an upgrade of k3s", text: "apiVersion: upgrade.cattle.io/v1\nkind: Plan\nspec: {version: v1.34.1+k3s1}\n", want: []string{"f:3 v1.34.1"}},
		{name: "an upgrade of nodes", text: "apiVersion: upgrade.cattle.io/v1\nkind: Plan\nspec: {version: v1.11.0}\n"},
		{name: "tuppr", text: "apiVersion: tuppr.home-operations.com/v1alpha1\nkind: KubernetesUpgrade\nspec: {kubernetes: {version: v1.35.1}}\n", want: []string{"f:3 v1.35.1"}},
		{name: "Kubespray", text: "kube_version: 1.33.5\nkube_apiserver_feature_gates:\n- HPAScaleToZero=true\n", want: []string{"f:1 v1.33.5", "f:3 HPAScaleToZero=true"}},
		{name: "another object", text: "apiVersion: apps/v1\nkind: Deployment\nspec: {kubernetesVersion: 1.34.0, cluster: {apiServer: {image: 'x:v1.34.0'}}}\n"},
		{name: "no YAML", text: "cluster: [apiServer\n"},
		{name: "an alias", text: "a: &a {feature-gates: HPAScaleToZero=true}\ncluster: {apiServer: {extraArgs: *a}}\n", want: []string{"f:1 HPAScaleToZero=true"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, s := range clusterconfig.Read("f", []byte(test.text)) {
				got = append(got, written(s))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	upgrade := &fstest.MapFile{Data: []byte("apiVersion: tuppr.home-operations.com/v1alpha1\nkind: KubernetesUpgrade\nspec: {kubernetes: {version: v1.35.1}}\n")}
	files := fstest.MapFS{
		"b.yaml.j2": upgrade, "a/c.yml": upgrade, "a/d.txt": upgrade, ".git/e.yaml": upgrade, "left/out/f.yaml": upgrade,
		"large.yaml": {Data: append([]byte(strings.Repeat("#\n", 200_000)), upgrade.Data...)},
	}
	found, err := clusterconfig.Find(t.Context(), tree.New(files, tree.Limits{}), func(dir string) bool { return dir == "left" })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found {
		got = append(got, written(s))
	}
	if diff := cmp.Diff([]string{"a/c.yml:3 v1.35.1", "b.yaml.j2:3 v1.35.1"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
