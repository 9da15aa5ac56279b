package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/preadmit/preadmit/scanner/admission/services"
)

// serviceOptions say what a Service is assigned from. A cluster has IPv4, but one of which not
// all is known may have IPv6 too when a Service asks for that.
func (c *Cluster) serviceOptions(svc *api.Service) services.Options {
	return services.Options{DualStack: !c.Knows(serviceCIDRKind) && services.MayNeedBoth(svc), NodePorts: c.opts.NodePorts}
}

// allocateStored assigns what the server assigned to a Service that is stored.
func (c *Cluster) allocateStored(ctx context.Context, obj runtime.Object) error {
	svc, ok := obj.(*api.Service)
	if !ok {
		return nil
	}
	o := c.serviceOptions(svc)
	o.Stored = true
	return services.Create(ctx, svc, o)
}

// allocateCreate assigns what the server assigns to a new Service.
func (c *Cluster) allocateCreate(ctx context.Context, obj runtime.Object, dryRun bool) error {
	svc, ok := obj.(*api.Service)
	if !ok {
		return nil
	}
	o := c.serviceOptions(svc)
	o.DryRun = dryRun
	return services.Create(ctx, svc, o)
}

// allocateUpdate assigns what the server assigns to a changed Service, and keeps what it had.
func (c *Cluster) allocateUpdate(ctx context.Context, obj, old runtime.Object, dryRun bool) error {
	svc, ok := obj.(*api.Service)
	if !ok {
		return nil
	}
	o := c.serviceOptions(svc)
	o.DryRun = dryRun
	return services.Update(ctx, svc, old, o)
}
