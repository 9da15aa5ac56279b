package admission

import (
	"k8s.io/apimachinery/pkg/runtime"
	api "k8s.io/kubernetes/pkg/apis/core"
)

// assignedIP and firstNodePort stand for what a server would pick; which address
// and ports is chance.
const (
	assignedIP    = "10.0.0.1"
	firstNodePort = 30000
)

// allocate fills what the server assigns to a Service beyond defaulting: its
// addresses and node ports, kept over updates that leave them out
// (k8s.io/kubernetes/pkg/registry/core/service/storage, alloc.go).
func allocate(obj, old runtime.Object) {
	svc, ok := obj.(*api.Service)
	if !ok || svc.Spec.Type == api.ServiceTypeExternalName {
		return
	}
	if before, ok := old.(*api.Service); ok {
		keepAllocated(svc, before)
	}
	if svc.Spec.ClusterIP == "" && len(svc.Spec.ClusterIPs) == 0 {
		svc.Spec.ClusterIP = assignedIP
	}
	if len(svc.Spec.ClusterIPs) == 0 {
		svc.Spec.ClusterIPs = []string{svc.Spec.ClusterIP}
	}
	if svc.Spec.IPFamilyPolicy == nil {
		single := api.IPFamilyPolicySingleStack
		svc.Spec.IPFamilyPolicy = &single
	}
	if len(svc.Spec.IPFamilies) == 0 {
		svc.Spec.IPFamilies = []api.IPFamily{api.IPv4Protocol}
	}
	allocateNodePorts(svc)
}

func allocateNodePorts(svc *api.Service) {
	balanced := svc.Spec.Type == api.ServiceTypeLoadBalancer
	wanted := svc.Spec.Type == api.ServiceTypeNodePort ||
		balanced && (svc.Spec.AllocateLoadBalancerNodePorts == nil || *svc.Spec.AllocateLoadBalancerNodePorts)
	for i := range svc.Spec.Ports {
		if wanted && svc.Spec.Ports[i].NodePort == 0 {
			svc.Spec.Ports[i].NodePort = firstNodePort + int32(i)
		}
	}
	if balanced && svc.Spec.ExternalTrafficPolicy == api.ServiceExternalTrafficPolicyLocal && svc.Spec.HealthCheckNodePort == 0 {
		svc.Spec.HealthCheckNodePort = firstNodePort + int32(len(svc.Spec.Ports))
	}
}

// keepAllocated carries assigned values over (patchAllocatedValues).
func keepAllocated(svc, before *api.Service) {
	if before.Spec.Type == api.ServiceTypeExternalName {
		return
	}
	if svc.Spec.ClusterIP == "" && len(svc.Spec.ClusterIPs) == 0 {
		svc.Spec.ClusterIP, svc.Spec.ClusterIPs = before.Spec.ClusterIP, before.Spec.ClusterIPs
	}
	if svc.Spec.Type == api.ServiceTypeLoadBalancer && svc.Spec.HealthCheckNodePort == 0 {
		svc.Spec.HealthCheckNodePort = before.Spec.HealthCheckNodePort
	}
}
