package services

import (
	"context"
	"errors"
	"fmt"
	"net"
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

	"github.com/preadmit/preadmit/scanner/admission/refusal"
)

// Options configure the assignment.
type Options struct {
	// DualStack is set if Services may have addresses of both families.
	DualStack bool
	// NodePorts is the server's range of node ports, nil for the default of a kube-apiserver.
	NodePorts *utilnet.PortRange
	// DryRun is set for requests that store nothing. A server does not check their node ports against
	// its range.
	DryRun bool
	// Stored is set for a stored Service, whose node ports are accepted whatever the range.
	Stored bool
}

// MayNeedBoth reports whether a Service requests addresses that a cluster with IPv4 alone does not
// have.
func MayNeedBoth(svc *api.Service) bool {
	spec := &svc.Spec
	return spec.IPFamilyPolicy != nil && *spec.IPFamilyPolicy == api.IPFamilyPolicyRequireDualStack ||
		slices.Contains(spec.IPFamilies, api.IPv6Protocol) || len(spec.ClusterIPs) > 1
}

// Create assigns addresses and ports to a new Service.
func Create(ctx context.Context, svc *api.Service, o Options) error {
	return o.assign(func(store *servicestorage.REST, dryRun []string) error {
		_, err := store.BeginCreate(ctx, svc, &metav1.CreateOptions{DryRun: dryRun})
		return err
	}, svc)
}

// Update assigns addresses and ports to a changed Service, which keeps its old ones.
func Update(ctx context.Context, svc *api.Service, old runtime.Object, o Options) error {
	before, _ := old.(*api.Service)
	return o.assign(func(store *servicestorage.REST, dryRun []string) error {
		_, err := store.BeginUpdate(ctx, svc, old, &metav1.UpdateOptions{DryRun: dryRun})
		return err
	}, svc, before)
}

// assign assigns by means of a storage, with node ports that none of the Services has.
func (o Options) assign(begin func(store *servicestorage.REST, dryRun []string) error, services ...*api.Service) error {
	var dryRun []string
	if o.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	s, done := o.storage()
	defer done()
	s.ports.reset(o, services)
	return status(begin(s.store, dryRun))
}

// ports returns the range of node ports.
func (o Options) ports() utilnet.PortRange {
	if o.NodePorts != nil {
		return *o.NodePorts
	}
	return utilnet.PortRange{Base: 30000, Size: 2768} // k8s.io/kubernetes/pkg/kubeapiserver/options
}

// status returns an error as a server's response: one that is no status, such as that of a repeated
// node port, becomes an internal error.
func status(err error) error {
	if err == nil || errors.As(err, new(*apierrors.StatusError)) {
		return err
	}
	return refusal.Internal(err)
}

// serviceStorage is the server's storage of Services, with the node ports that it assigns. Only the steps
// before storing are used here.
type serviceStorage struct {
	store *servicestorage.REST
	ports *nodePorts
}

// storage returns a storage, and the function that releases it.
func (o Options) storage() (s *serviceStorage, done func()) {
	pool := &singleStack
	if o.DualStack {
		pool = &dualStack
	}
	s = pool.Get().(*serviceStorage)
	return s, func() { pool.Put(s) }
}

var (
	singleStack = sync.Pool{New: func() any { return newStorage(api.IPv4Protocol) }}
	dualStack   = sync.Pool{New: func() any { return newStorage(api.IPv4Protocol, api.IPv6Protocol) }}
)

func newStorage(families ...api.IPFamily) *serviceStorage {
	allocators := map[api.IPFamily]ipallocator.Interface{}
	for _, family := range families {
		allocators[family] = anyAddress{family: family}
	}
	ports := &nodePorts{}
	store, _, _, err := servicestorage.NewREST(nowhere{}, families[0], allocators, ports, nil, nil, nil)
	if err != nil {
		panic(fmt.Sprintf("storage of services: %v", err)) // it reads no input
	}
	return &serviceStorage{store: store, ports: ports}
}

// assignedIP replaces the address that a server chooses at random.
const assignedIP = "10.0.0.1"

// anyAddress always allocates the same address, and accepts every requested one, since the range of
// the cluster is not known.
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

// nodePorts allocates node ports. All ports count as free except those of the given Services, since
// other Services of the cluster are not known. A server chooses one at random, in the upper part of
// the range (KEP-3682); here it is always the same, one that people are unlikely to write.
type nodePorts struct {
	portallocator.Interface
	ports utilnet.PortRange
	// anywhere is set if a port may be out of the range.
	anywhere bool
	used     map[int]bool
}

// reset starts again, with the ports of Services in use.
func (p *nodePorts) reset(o Options, services []*api.Service) {
	p.ports, p.anywhere, p.used = o.ports(), o.Stored, map[int]bool{}
	for _, svc := range services {
		if svc == nil {
			continue
		}
		p.used[int(svc.Spec.HealthCheckNodePort)] = true
		for i := range svc.Spec.Ports {
			p.used[int(svc.Spec.Ports[i].NodePort)] = true
		}
	}
}

// Has implements portallocator.Interface. Every port that a Service requests counts as free.
func (*nodePorts) Has(int) bool { return false }

// Allocate implements portallocator.Interface.
func (p *nodePorts) Allocate(port int) error {
	if !p.anywhere && !p.ports.Contains(port) {
		return &portallocator.ErrNotInRange{ValidPorts: p.ports.String()}
	}
	return nil
}

// AllocateNext implements portallocator.Interface.
func (p *nodePorts) AllocateNext() (int, error) {
	for i := range p.ports.Size {
		port := p.ports.Base + (i+p.ports.Size*13/16)%p.ports.Size
		if !p.used[port] {
			p.used[port] = true
			return port, nil
		}
	}
	return 0, portallocator.ErrFull
}

// Release implements portallocator.Interface.
func (*nodePorts) Release(int) error { return nil }

// nowhere returns options without a storage backend.
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
