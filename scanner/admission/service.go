package admission

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	servicestorage "k8s.io/kubernetes/pkg/registry/core/service/storage"
)

// services is the server's storage of Services for a cluster with some families
// of addresses. Only what it does before it stores is of use here: addresses and
// node ports are assigned, as in a dry run.
func services(families ...api.IPFamily) *servicestorage.REST {
	allocators := map[api.IPFamily]ipallocator.Interface{}
	for _, family := range families {
		allocators[family] = anyAddress{family: family}
	}
	store, _, _, err := servicestorage.NewREST(nowhere{}, families[0], allocators, anyPort{}, nil, nil, nil)
	if err != nil {
		panic(fmt.Sprintf("storage of services: %v", err)) // depends on nothing that is read
	}
	return store
}

var (
	singleStack = sync.OnceValue(func() *servicestorage.REST { return services(api.IPv4Protocol) })
	dualStack   = sync.OnceValue(func() *servicestorage.REST { return services(api.IPv4Protocol, api.IPv6Protocol) })
)

// services returns the storage for a Service. A cluster has IPv4, but one of which
// not all is known may have IPv6 too when a Service asks for that.
func (c *Cluster) services(svc *api.Service) *servicestorage.REST {
	spec := &svc.Spec
	asksForBoth := spec.IPFamilyPolicy != nil && *spec.IPFamilyPolicy == api.IPFamilyPolicyRequireDualStack ||
		slices.Contains(spec.IPFamilies, api.IPv6Protocol) || len(spec.ClusterIPs) > 1
	if !c.Knows(serviceCIDRKind) && asksForBoth {
		return dualStack()
	}
	return singleStack()
}

// allocateCreate assigns what the server assigns to a new Service.
func (c *Cluster) allocateCreate(ctx context.Context, obj runtime.Object) error {
	svc, ok := obj.(*api.Service)
	if !ok {
		return nil
	}
	_, err := c.services(svc).BeginCreate(ctx, svc, &metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// allocateUpdate assigns what the server assigns to a changed Service, and keeps
// what it had.
func (c *Cluster) allocateUpdate(ctx context.Context, obj, old runtime.Object) error {
	svc, ok := obj.(*api.Service)
	if !ok {
		return nil
	}
	_, err := c.services(svc).BeginUpdate(ctx, svc, old, &metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// assignedIP stands for the address that a server would pick, which is chance.
const assignedIP = "10.0.0.1"

// anyAddress allocates the same address to everybody, and takes every other: which
// range a cluster has is not known.
type anyAddress struct {
	ipallocator.Interface
	family api.IPFamily
}

// IPFamily implements ipallocator.Interface.
func (a anyAddress) IPFamily() api.IPFamily { return a.family }

// DryRun implements ipallocator.Interface.
func (a anyAddress) DryRun() ipallocator.Interface { return a }

// Allocate implements ipallocator.Interface.
func (a anyAddress) Allocate(net.IP) error { return nil }

// AllocateNext implements ipallocator.Interface.
func (a anyAddress) AllocateNext() (net.IP, error) {
	if a.family == api.IPv6Protocol {
		return net.ParseIP("fd00::1"), nil
	}
	return net.ParseIP(assignedIP), nil
}

// Release implements ipallocator.Interface.
func (a anyAddress) Release(net.IP) error { return nil }

// anyPort is an allocator whose node ports are all free. In a dry run the server
// asks it no more than that.
type anyPort struct{ portallocator.Interface }

// Has implements portallocator.Interface.
func (anyPort) Has(int) bool { return false }

// nowhere returns a storage that is none.
type nowhere struct{}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (nowhere) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig: &storagebackend.ConfigForResource{}, ResourcePrefix: resource.String(),
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object,
			storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return nil, func() {}, nil
		},
	}, nil
}
