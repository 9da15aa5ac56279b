package admission

import (
	"context"
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	schedulingapi "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// Exists is the server's refusal to create what is there already, nil when it is
// not. It comes after admission, from the storage, and only where all objects of
// the kind are known.
func (r *Request) Exists() error {
	resource := r.GetResource().GroupResource()
	if r.GetOperation() != admission.Create || r.GetSubresource() != "" || !r.cluster.Knows(r.GetKind().GroupKind()) || !r.cluster.has(r) {
		return nil
	}
	return apierrors.NewAlreadyExists(resource, r.GetName())
}

// has reports whether the state, or what every server creates at start, has the
// object of a request.
func (c *Cluster) has(r *Request) bool {
	resource, ok := c.Resource(r.GetKind())
	if !ok {
		return false
	}
	switch resource.GroupResource() {
	case gr("", "namespaces"):
		if systemNamespaces[r.GetName()] {
			return true
		}
	case gr("scheduling.k8s.io", "priorityclasses"):
		system := schedulingapi.SystemPriorityClasses()
		if slices.ContainsFunc(system, func(p *schedulingv1.PriorityClass) bool { return p.Name == r.GetName() }) {
			return true
		}
	case gr(groupRBAC, "clusterroles"):
		_, err := c.rbac().state.GetClusterRole(context.Background(), r.GetName())
		return err == nil
	}
	return c.Find(resource, r.GetNamespace(), r.GetName()) != nil
}
