package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/preadmit/preadmit/scanner/admission/services"
)

// assign assigns what the server assigns to a Service, which keeps what the old one has, if
// there is one. A cluster has IPv4, but one of which not all is known may have IPv6 too when a
// Service asks for that.
func (c *Cluster) assign(ctx context.Context, obj, old runtime.Object, o services.Options) error {
	svc, ok := obj.(*api.Service)
	if !ok {
		return nil
	}
	o.DualStack, o.NodePorts = !c.Knows(serviceCIDRKind) && services.MayNeedBoth(svc), c.opts.NodePorts
	if old == nil {
		return services.Create(ctx, svc, o)
	}
	return services.Update(ctx, svc, old, o)
}
