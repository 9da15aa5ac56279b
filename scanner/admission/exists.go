package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	schedulingapi "k8s.io/kubernetes/pkg/apis/scheduling/v1"

	"github.com/preadmit/preadmit/scanner/admission/quota"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// OverQuota returns the refusal of a quota, which comes after policies. It is a *quota.UsageError or
// an *unknown.Error if it depends on values that only the cluster knows.
func (r *Request) OverQuota() error {
	quotas, err := r.cluster.quotas(r.GetNamespace())
	if err != nil || len(quotas) == 0 {
		return err
	}
	if r.cluster.opts.Known.HasAll() {
		return quota.CheckStatus(quotas, r.Attributes)
	}
	first := quota.Check(quotas, r.Attributes)
	var usage *quota.UsageError
	if r.madeUp && errors.As(first, &usage) {
		return nil // the controller retries until the quota suffices
	}
	for _, other := range r.others {
		if err := quota.Check(quotas, other.Attributes); fmt.Sprint(err) != fmt.Sprint(first) {
			return &unknown.Error{What: "whether a ResourceQuota allows the object", Fields: r.unknown}
		}
	}
	return first
}

// quotas returns the ResourceQuotas of a namespace as the quota controller keeps them: with the
// limits of the spec, and the usage in the status.
func (c *Cluster) quotas(namespace string) ([]*corev1.ResourceQuota, error) {
	var all []*corev1.ResourceQuota
	for _, o := range c.list(schema.GroupKind{Kind: "ResourceQuota"}) {
		if namespace == "" || c.namespace(o) != namespace {
			continue
		}
		if len(o.Unknown) > 0 {
			return nil, &unknown.Error{What: "what ResourceQuota " + o.Name() + " allows", Fields: o.Unknown}
		}
		q := &corev1.ResourceQuota{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Content(), q); err != nil {
			continue // refused by the server, so not part of its state
		}
		if !c.opts.Known.HasAll() {
			q.Status.Hard = q.Spec.Hard
		}
		all = append(all, q)
	}
	return all, nil
}

// Exists returns the server's refusal to create an object that exists already, nil if it does not. It
// comes after admission, from the storage, and is only returned for a state from before the request,
// as in a suite: that of a scan contains the new object.
func (r *Request) Exists() error {
	resource := r.GetResource().GroupResource()
	if r.GetOperation() != admission.Create || r.GetSubresource() != "" || !r.cluster.opts.Known.HasAll() || !r.cluster.has(r) {
		return nil
	}
	return apierrors.NewAlreadyExists(resource, r.GetName())
}

// has reports whether the state has the object of a request, or every server creates it at start.
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
