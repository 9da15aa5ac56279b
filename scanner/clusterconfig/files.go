package clusterconfig

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// file describes a kind of file that configures API servers.
type file struct {
	// group and kind are those of an object. A file that is not an object is recognized by its keys, and has all
	// of them.
	group, kind string
	keys        []string
	// versions are fields with the Kubernetes version, images are fields with an image whose tag is the version.
	versions, images []string
	// after has the suffixes by which values of versions are recognized as Kubernetes versions; empty if all
	// values are.
	after []string
	// flags are fields with the flags of the API server, gates fields with feature gates, and apis fields with
	// the runtime config.
	flags, gates, apis []string
	// patches are fields with a list of patches of Talos, as texts or mappings.
	patches []string
}

// machineFiles are machine configurations of Talos and patches of them (https://docs.siderolabs.com/talos), and since
// 1.13 separate documents for their parts.
var machineFiles = []file{
	{keys: []string{"cluster"}, images: []string{"cluster.apiServer.image", "machine.kubelet.image"}, flags: []string{"cluster.apiServer.extraArgs"}},
	{keys: []string{"machine"}, images: []string{"machine.kubelet.image"}},
	{kind: "KubeAPIServerConfig", images: []string{"image"}, flags: []string{"extraArgs"}},
	{kind: "KubeletConfig", images: []string{"image"}},
}

// files are the other known files.
var files = []file{
	// https://budimanjojo.github.io/talhelper: talconfig.yaml and talenv.yaml.
	{keys: []string{"clusterName", "nodes"}, versions: []string{"kubernetesVersion"}, patches: []string{"patches", "controlPlane.patches", "nodes.patches"}},
	{keys: []string{"talosVersion", "kubernetesVersion"}, versions: []string{"kubernetesVersion"}},
	// https://docs.siderolabs.com/omni: cluster templates.
	{kind: "Cluster", versions: []string{"kubernetes.version"}, patches: []string{"patches.inline"}},
	{kind: "ControlPlane", patches: []string{"patches.inline"}},
	// https://kubespray.io: group variables.
	{keys: []string{"kube_version"}, versions: []string{"kube_version"}, gates: []string{"kube_feature_gates", "kube_apiserver_feature_gates"}},
	// https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4
	{group: "kubeadm.k8s.io", kind: "ClusterConfiguration", versions: []string{"kubernetesVersion"}, flags: []string{"apiServer.extraArgs"}},
	// https://cluster-api.sigs.k8s.io: control planes of any provider, and clusters of a ClusterClass.
	{group: "controlplane.cluster.x-k8s.io", versions: []string{"spec.version"}, flags: []string{"spec.kubeadmConfigSpec.clusterConfiguration.apiServer.extraArgs"},
		patches: []string{"spec.controlPlaneConfig.controlplane.strategicPatches"}},
	{group: "cluster.x-k8s.io", kind: "Cluster", versions: []string{"spec.topology.version"}},
	// https://kops.sigs.k8s.io/cluster_spec
	{group: "kops.k8s.io", kind: "Cluster", versions: []string{"spec.kubernetesVersion"}, gates: []string{"spec.kubeAPIServer.featureGates"}, apis: []string{"spec.kubeAPIServer.runtimeConfig"}},
	// https://eksctl.io/usage/schema
	{group: "eksctl.io", kind: "ClusterConfig", versions: []string{"metadata.version"}},
	// https://gardener.cloud/docs/gardener/api-reference/core
	{group: "core.gardener.cloud", kind: "Shoot", versions: []string{"spec.kubernetes.version"}, gates: []string{"spec.kubernetes.kubeAPIServer.featureGates"}, apis: []string{"spec.kubernetes.kubeAPIServer.runtimeConfig"}},
	// https://docs.k0sproject.io/stable/k0sctl-install
	{group: "k0sctl.k0sproject.io", kind: "Cluster", versions: []string{"spec.k0s.version"}},
	// https://github.com/rancher/system-upgrade-controller: for k3s and RKE2; other plans are for nodes.
	{group: "upgrade.cattle.io", kind: "Plan", versions: []string{"spec.version"}, after: []string{"+k3s", "+rke2"}},
	// https://github.com/home-operations/tuppr
	{group: "tuppr.home-operations.com", kind: "KubernetesUpgrade", versions: []string{"spec.kubernetes.version"}},
}

// matches reports whether a document is a file of this kind.
func (f *file) matches(document *yaml.Node) bool {
	apiVersion, kind := valueOf(document, "apiVersion"), valueOf(document, "kind")
	if len(f.keys) > 0 {
		return apiVersion == "" && kind == "" && !slices.ContainsFunc(f.keys, func(key string) bool { return at(document, key) == nil })
	}
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group = ""
	}
	return group == f.group && (f.kind == "" || kind == f.kind)
}

// read returns the settings in a document.
func (f *file) read(name string, document *yaml.Node) []Setting {
	var all []Setting
	add := func(n *yaml.Node, s Setting) {
		if s.Version != "" || len(s.FeatureGates) > 0 || len(s.RuntimeConfig) > 0 {
			s.Path, s.Line = name, n.Line
			all = append(all, s)
		}
	}
	for _, field := range f.versions {
		if n := at(document, field); n != nil && f.follows(n.Value) {
			add(n, Setting{Version: versionOf(n.Value)})
		}
	}
	for _, field := range f.images {
		if n := at(document, field); n != nil {
			image, _, _ := strings.Cut(n.Value, "@")
			if s := (Setting{Version: versionOf(image[strings.LastIndexByte(image, ':')+1:])}); s.Version != "" {
				add(n, s)
				break // both images have the same version
			}
		}
	}
	for _, field := range f.flags {
		for _, flag := range flagsOf(at(document, field)) {
			switch flag.name {
			case "feature-gates":
				add(flag.at, Setting{FeatureGates: gatesOf(flag.value)})
			case "runtime-config":
				add(flag.at, Setting{RuntimeConfig: apisOf(flag.value)})
			}
		}
	}
	for _, field := range f.gates {
		if n := at(document, field); n != nil {
			add(n, Setting{FeatureGates: gatesOf(listOf(n))})
		}
	}
	for _, field := range f.apis {
		if n := at(document, field); n != nil {
			add(n, Setting{RuntimeConfig: apisOf(listOf(n))})
		}
	}
	for _, field := range f.patches {
		for _, patch := range itemsAt(document, field) {
			all = append(all, readPatch(name, patch)...)
		}
	}
	return all
}

// readPatch returns the settings in a patch of Talos.
func readPatch(name string, patch *yaml.Node) []Setting {
	if patch.Kind != yaml.ScalarNode {
		return readDocument(name, patch, machineFiles)
	}
	all := readText(name, []byte(patch.Value), machineFiles)
	for i := range all {
		if patch.Style&yaml.LiteralStyle != 0 {
			all[i].Line += patch.Line
		} else {
			all[i].Line = patch.Line
		}
	}
	return all
}

// follows reports whether a value is a Kubernetes version.
func (f *file) follows(version string) bool {
	if len(f.after) == 0 {
		return true
	}
	for _, part := range f.after {
		if strings.Contains(version, part) {
			return true
		}
	}
	return false
}
