package services

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
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

// Options say what an API server assigns from.
type Options struct {
	// DualStack is set where Services may have addresses of both families.
	DualStack bool
	// NodePorts is the range that a server takes node ports from, nil for the default of a
	// kube-apiserver.
	NodePorts *utilnet.PortRange
	// DryRun is set for requests that store nothing. A server does not compare their node
	// ports with its range.
	DryRun bool
}

// MayNeedBoth reports whether a Service asks for addresses that a cluster with IPv4 alone does
// not have.
func MayNeedBoth(svc *api.Service) bool {
	spec := &svc.Spec
	return spec.IPFamilyPolicy != nil && *spec.IPFamilyPolicy == api.IPFamilyPolicyRequireDualStack ||
		slices.Contains(spec.IPFamilies, api.IPv6Protocol) || len(spec.ClusterIPs) > 1
}

// Create assigns what a server assigns to a new Service.
func Create(ctx context.Context, svc *api.Service, o Options) error {
	if err := o.inRange(svc, func(svc *api.Service, store *servicestorage.REST) error {
		_, err := store.BeginCreate(ctx, svc, &metav1.CreateOptions{})
		return err
	}); err != nil {
		return err
	}
	_, err := o.storage().BeginCreate(ctx, svc, &metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return status(err)
}

// Update assigns what a server assigns to a changed Service, which keeps what it had.
func Update(ctx context.Context, svc *api.Service, old runtime.Object, o Options) error {
	if err := o.inRange(svc, func(svc *api.Service, store *servicestorage.REST) error {
		_, err := store.BeginUpdate(ctx, svc, old, &metav1.UpdateOptions{})
		return err
	}); err != nil {
		return err
	}
	_, err := o.storage().BeginUpdate(ctx, svc, old, &metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	return status(err)
}

// inRange returns the refusal of a Service with a node port out of the range, nil for others.
// What a server allocates in a dry run follows from the Service, which is what it is to be here;
// but only without one it compares ports with its range. So such a Service is allocated twice.
func (o Options) inRange(svc *api.Service, allocate func(*api.Service, *servicestorage.REST) error) error {
	ports := o.ports()
	out := svc.Spec.HealthCheckNodePort != 0 && !ports.Contains(int(svc.Spec.HealthCheckNodePort)) ||
		slices.ContainsFunc(svc.Spec.Ports, func(p api.ServicePort) bool { return p.NodePort != 0 && !ports.Contains(int(p.NodePort)) })
	if o.DryRun || !out {
		return nil
	}
	return status(allocate(svc.DeepCopy(), o.storage()))
}

// ports returns the range of node ports.
func (o Options) ports() utilnet.PortRange {
	if o.NodePorts != nil {
		return *o.NodePorts
	}
	return utilnet.PortRange{Base: 30000, Size: 2768} // k8s.io/kubernetes/pkg/kubeapiserver/options
}

// status returns an error as a server answers with it: one that is no status, such as that of
// a node port that is written twice, with the code of an internal error.
func status(err error) error {
	if err == nil || errors.As(err, new(*apierrors.StatusError)) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}

// storage is the server's storage of Services. Only what it does before it stores is of use
// here.
func (o Options) storage() *servicestorage.REST {
	switch {
	case o.NodePorts != nil && o.DualStack:
		return newStorage(o.ports(), api.IPv4Protocol, api.IPv6Protocol)
	case o.NodePorts != nil:
		return newStorage(o.ports(), api.IPv4Protocol)
	case o.DualStack:
		return dualStack()
	}
	return singleStack()
}

var (
	singleStack = sync.OnceValue(func() *servicestorage.REST { return newStorage(Options{}.ports(), api.IPv4Protocol) })
	dualStack   = sync.OnceValue(func() *servicestorage.REST {
		return newStorage(Options{}.ports(), api.IPv4Protocol, api.IPv6Protocol)
	})
)

func newStorage(ports utilnet.PortRange, families ...api.IPFamily) *servicestorage.REST {
	allocators := map[api.IPFamily]ipallocator.Interface{}
	for _, family := range families {
		allocators[family] = anyAddress{family: family}
	}
	store, _, _, err := servicestorage.NewREST(nowhere{}, families[0], allocators, anyPort{ports: ports}, nil, nil, nil)
	if err != nil {
		panic(fmt.Sprintf("storage of services: %v", err)) // depends on nothing that is read
	}
	return store
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

// anyPort is an allocator whose node ports are all free. A new port is the first of the range.
type anyPort struct {
	portallocator.Interface
	ports utilnet.PortRange
}

// Has implements portallocator.Interface.
func (anyPort) Has(int) bool { return false }

// Allocate implements portallocator.Interface.
func (p anyPort) Allocate(port int) error {
	if !p.ports.Contains(port) {
		return &portallocator.ErrNotInRange{ValidPorts: p.ports.String()}
	}
	return nil
}

// AllocateNext implements portallocator.Interface.
func (p anyPort) AllocateNext() (int, error) { return p.ports.Base, nil }

// Release implements portallocator.Interface.
func (anyPort) Release(int) error { return nil }

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
