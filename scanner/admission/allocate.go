package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/preadmit/preadmit/scanner/admission/services"
)

// serviceOptions say what a Service is assigned from. A cluster has IPv4, but one of which not
// all is known may have IPv6 too when a Service asks for that.
func (c *Cluster) serviceOptions(svc *api.Service, dryRun bool) services.Options {
	return services.Options{
		DualStack: !c.Knows(serviceCIDRKind) && services.MayNeedBoth(svc),
		NodePorts: c.opts.NodePorts, DryRun: dryRun,
	}
}

// allocateCreate assigns what the server assigns to a new Service.
func (c *Cluster) allocateCreate(ctx context.Context, obj runtime.Object, dryRun bool) error {
	svc, ok := obj.(*api.Service)
	if !ok {
		return nil
	}
	return services.Create(ctx, svc, c.serviceOptions(svc, dryRun))
}

// allocateUpdate assigns what the server assigns to a changed Service, and keeps what it had.
func (c *Cluster) allocateUpdate(ctx context.Context, obj, old runtime.Object, dryRun bool) error {
	svc, ok := obj.(*api.Service)
	if !ok {
		return nil
	}
	return services.Update(ctx, svc, old, c.serviceOptions(svc, dryRun))
}
