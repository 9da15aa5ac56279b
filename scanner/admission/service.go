package admission

import (
	"k8s.io/apimachinery/pkg/runtime"
	api "k8s.io/kubernetes/pkg/apis/core"
)

// assignedIP stands for the address a server would pick; which one is chance.
const assignedIP = "10.0.0.1"

// allocate fills what the server assigns to a Service beyond defaulting: its
// addresses, kept over updates that leave them out
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
}

// keepAllocated carries assigned values over (patchAllocatedValues).
func keepAllocated(svc, before *api.Service) {
	if before.Spec.Type == api.ServiceTypeExternalName {
		return
	}
	if svc.Spec.ClusterIP == "" && len(svc.Spec.ClusterIPs) == 0 {
		svc.Spec.ClusterIP, svc.Spec.ClusterIPs = before.Spec.ClusterIP, before.Spec.ClusterIPs
	}
	if svc.Spec.HealthCheckNodePort == 0 {
		svc.Spec.HealthCheckNodePort = before.Spec.HealthCheckNodePort
	}
}
