package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/preadmit/preadmit/scanner/admission/services"
)

// assign assigns the addresses and ports that the server assigns to a Service, which keeps those of
// old, if there is one. A cluster has IPv4, but may have IPv6 too if not all ServiceCIDRs are known
// and a Service requests it.
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
