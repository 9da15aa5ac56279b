package scope

import (
	"slices"
	"strings"
)

// clusterScoped are cluster-scoped custom kinds, by group, as defined by the CustomResourceDefinitions of widely used
// projects. They are for repositories without these definitions.
var clusterScoped = map[string][]string{
	"argoproj.io":                         {"ClusterWorkflowTemplate", "ClusterAnalysisTemplate"},
	"cert-manager.io":                     {"ClusterIssuer"},
	"policy.cert-manager.io":              {"CertificateRequestPolicy"},
	"trust.cert-manager.io":               {"Bundle"},
	"external-secrets.io":                 {"ClusterSecretStore", "ClusterExternalSecret", "ClusterPushSecret"},
	"generators.external-secrets.io":      {"ClusterGenerator"},
	"gateway.networking.k8s.io":           {"GatewayClass"},
	"kyverno.io":                          {"ClusterPolicy", "ClusterCleanupPolicy", "GlobalContextEntry"},
	"policies.kyverno.io":                 {"ValidatingPolicy", "MutatingPolicy", "GeneratingPolicy", "DeletingPolicy", "ImageValidatingPolicy"},
	"templates.gatekeeper.sh":             {"ConstraintTemplate"},
	"constraints.gatekeeper.sh":           {"*"},
	"mutations.gatekeeper.sh":             {"*"},
	"expansion.gatekeeper.sh":             {"ExpansionTemplate"},
	"crd.projectcalico.org":               {"BGPConfiguration", "BGPPeer", "FelixConfiguration", "GlobalNetworkPolicy", "GlobalNetworkSet", "IPPool", "HostEndpoint", "KubeControllersConfiguration", "ClusterInformation"},
	"projectcalico.org":                   {"BGPConfiguration", "BGPPeer", "FelixConfiguration", "GlobalNetworkPolicy", "GlobalNetworkSet", "IPPool", "HostEndpoint"},
	"operator.tigera.io":                  {"*"},
	"cilium.io":                           {"CiliumClusterwideNetworkPolicy", "CiliumClusterwideEnvoyConfig", "CiliumLoadBalancerIPPool", "CiliumL2AnnouncementPolicy", "CiliumBGPPeeringPolicy", "CiliumBGPClusterConfig", "CiliumBGPPeerConfig", "CiliumBGPAdvertisement", "CiliumBGPNodeConfigOverride", "CiliumExternalWorkload", "CiliumEgressGatewayPolicy", "CiliumNode", "CiliumIdentity", "CiliumCIDRGroup"},
	"cluster.open-cluster-management.io":  {"ManagedCluster", "ManagedClusterSet"},
	"operator.open-cluster-management.io": {"ClusterManager", "Klusterlet"},
	"config.openshift.io":                 {"*"},
	"console.openshift.io":                {"*"},
	"operator.openshift.io":               {"CloudCredential", "ClusterCSIDriver", "Console", "CSISnapshotController", "DNS", "Etcd", "KubeAPIServer", "KubeControllerManager", "KubeScheduler", "Network", "OpenShiftAPIServer", "ServiceCA", "Storage"},
	"imageregistry.operator.openshift.io": {"Config", "ImagePruner"},
	"machineconfiguration.openshift.io":   {"*"},
	"security.openshift.io":               {"SecurityContextConstraints"},
	"user.openshift.io":                   {"*"},
	"oauth.openshift.io":                  {"*"},
	"project.openshift.io":                {"*"},
	"quota.openshift.io":                  {"ClusterResourceQuota"},
	"authorization.openshift.io":          {"ClusterRole", "ClusterRoleBinding"},
	"samples.operator.openshift.io":       {"*"},
	"hostpathprovisioner.kubevirt.io":     {"*"},
	"kubevirt.io":                         {"VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"},
	"instancetype.kubevirt.io":            {"VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"},
	"cdi.kubevirt.io":                     {"CDI", "CDIConfig", "StorageProfile"},
	"operator.tekton.dev":                 {"*"},
	"tekton.dev":                          {"ClusterTask"},
	"triggers.tekton.dev":                 {"ClusterInterceptor", "ClusterTriggerBinding"},
	"karpenter.sh":                        {"NodePool", "NodeClaim"},
	"karpenter.k8s.aws":                   {"EC2NodeClass"},
	"karpenter.azure.com":                 {"AKSNodeClass"},
	"snapshot.storage.k8s.io":             {"VolumeSnapshotClass", "VolumeSnapshotContent"},
	"groupsnapshot.storage.k8s.io":        {"VolumeGroupSnapshotClass", "VolumeGroupSnapshotContent"},
	"keda.sh":                             {"ClusterTriggerAuthentication"},
	"elbv2.k8s.aws":                       {"IngressClassParams"},
	"pkg.crossplane.io":                   {"*"},
	"apiextensions.crossplane.io":         {"*"},
	"ops.crossplane.io":                   {"*"},
	"protection.crossplane.io":            {"ClusterUsage"},
	"secrets.crossplane.io":               {"*"},
	"clusterpedia.io":                     {"*"},
	"policy.karmada.io":                   {"ClusterPropagationPolicy", "ClusterOverridePolicy"},
	"logging.banzaicloud.io":              {"Logging", "ClusterFlow"},
	"topolvm.io":                          {"LogicalVolume"},
	"scheduling.volcano.sh":               {"Queue"},
	"kueue.x-k8s.io":                      {"ClusterQueue", "ResourceFlavor", "AdmissionCheck", "WorkloadPriorityClass", "Topology", "Cohort", "MultiKueueCluster", "MultiKueueConfig"},
	"nvidia.com":                          {"ClusterPolicy", "NVIDIADriver"},
	"capsule.clastix.io":                  {"Tenant", "CapsuleConfiguration"},
	"fluentbit.fluent.io":                 {"ClusterFluentBitConfig", "ClusterFilter", "ClusterInput", "ClusterOutput", "ClusterParser"},
	"wgpolicyk8s.io":                      {"ClusterPolicyReport"},
	"trident.netapp.io":                   {"TridentOrchestrator"},
	"tailscale.com":                       {"Connector", "ProxyClass", "ProxyGroup", "DNSConfig", "Recorder", "Tailnet"},
	"spire.spiffe.io":                     {"ClusterSPIFFEID", "ClusterStaticEntry", "ClusterFederatedTrustDomain"},
}

// crossplaneProviders are the domains of the groups of Crossplane's providers: crossplane.io for those of the community,
// the others for the families of Upbound.
var crossplaneProviders = []string{"crossplane.io", "aws.upbound.io", "azure.upbound.io", "azuread.upbound.io", "gcp.upbound.io", "gcp-beta.upbound.io", "tf.upbound.io"}

// IsClusterScoped reports whether a custom kind without a known definition is cluster-scoped.
func IsClusterScoped(group, kind string) bool {
	if kinds, ok := clusterScoped[group]; ok {
		return slices.Contains(kinds, kind) || slices.Contains(kinds, "*")
	}
	// Managed resources are cluster-scoped. Crossplane v2 also has namespaced ones, in groups with an m before the domain
	// of the vendor.
	if strings.HasSuffix(group, ".m.crossplane.io") || strings.HasSuffix(group, ".m.upbound.io") {
		return kind == "ClusterProviderConfig"
	}
	return slices.ContainsFunc(crossplaneProviders, func(domain string) bool {
		return group == domain || strings.HasSuffix(group, "."+domain)
	})
}
