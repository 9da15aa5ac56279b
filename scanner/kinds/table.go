package kinds

import "k8s.io/apimachinery/pkg/runtime/schema"

// table has a row for each kind. Rows for all other kinds of a group come after those
// of its kinds.
var table = []Kind{
	{GroupKind: Policy, Effect: Judges, Governs: true},
	{GroupKind: Binding, Effect: Judges, Governs: true},
	{GroupKind: Mutation, Effect: Judges, Governs: true},
	{GroupKind: MutationBinding, Effect: Judges, Governs: true},
	{GroupKind: schema.GroupKind{Group: GroupAdmission}, Effect: NotSimulated}, // webhooks

	{GroupKind: Namespace, Effect: Contains, Governs: true},
	{GroupKind: Definition, Effect: Defines, Governs: true},

	{GroupKind: schema.GroupKind{Group: GroupRBAC, Kind: "ClusterRole"}, Effect: Authorizes, Governs: true},
	{GroupKind: schema.GroupKind{Group: GroupRBAC, Kind: "ClusterRoleBinding"}, Effect: Authorizes, Governs: true},
	{GroupKind: schema.GroupKind{Group: GroupRBAC, Kind: "Role"}, Effect: Authorizes, Governs: true},
	{GroupKind: schema.GroupKind{Group: GroupRBAC, Kind: "RoleBinding"}, Effect: Authorizes, Governs: true},

	// Plugins complete Pods in workloads of every kind.
	{GroupKind: schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, Effect: Completes, Governs: true, Version: "v1",
		NeededBy: Need{Fields: []string{"containers", "initContainers"}}},
	{GroupKind: schema.GroupKind{Kind: "LimitRange"}, Effect: Completes, Version: "v1",
		NeededBy: Need{Fields: []string{"containers", "initContainers", "resources"}, InNamespace: true}},
	{GroupKind: schema.GroupKind{Kind: "ResourceQuota"}, Effect: Completes, Version: "v1",
		NeededBy: Need{Fields: []string{"containers", "initContainers"}, Kinds: []string{"PersistentVolumeClaim"}, InNamespace: true}},
	{GroupKind: ServiceAccount, Effect: Completes, Version: "v1",
		NeededBy: Need{Fields: []string{"containers", "initContainers"}, InNamespace: true}},
	{GroupKind: schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}, Effect: Completes, Version: "v1",
		NeededBy: Need{Fields: []string{"runtimeClassName"}}},
	{GroupKind: schema.GroupKind{Kind: "Node"}, Effect: Completes, Version: "v1",
		NeededBy: Need{Fields: []string{"nodeName"}, Kinds: []string{"Binding"}}},
	{GroupKind: schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}, Effect: Completes, Version: "v1",
		NeededBy: Need{Kinds: []string{"PersistentVolumeClaim"}}},
	{GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}, Effect: Completes, Version: "v1",
		NeededBy: Need{Kinds: []string{"Ingress"}}},
}
