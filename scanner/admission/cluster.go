package admission

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/custom"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// ClusterOptions describe a cluster and its state.
type ClusterOptions struct {
	// Known are the kinds of which the layers have all objects. If all Namespaces are known, a
	// missing one is a 404; otherwise it is unknown, and verdicts that depend on it are
	// indeterminate.
	Known kinds.Complete
	// Removed are objects that the state no longer has: one of them that is not in the layers does
	// not exist. It may be nil.
	Removed *Index
	// Namespace is the namespace of namespaced objects that are written without one; empty means
	// default.
	Namespace string
	// Creator is the user who created the objects of the state, which some of them record; nil when
	// that is not known.
	Creator user.Info
	// NodePorts is the range of node ports of the server, nil for its default.
	NodePorts *utilnet.PortRange
	// Policies caches the creations of policies, for all clusters with the same kinds; nil for a
	// cache of the cluster's own.
	Policies *PolicyCreations
}

// Cluster has the kinds that an API server serves and the objects that it stores. It is safe for
// concurrent use.
type Cluster struct {
	opts   ClusterOptions
	layers []*Index

	rbac   func() *rbacAuthorizer
	custom func() map[schema.GroupKind]*Object
	mapper func() runtime.EquivalentResourceMapper

	mu         sync.Mutex
	handlers   map[schema.GroupVersionKind]*handler
	unserved   sync.Map // schema.GroupVersionKind -> func() (*handler, error), of versions that are not served
	namespaces map[string]*corev1.Namespace
	plugins    func() []mutator

	podSecurity, resize func() admission.ValidationInterface
}

// allowPrivileged does what the flag --allow-privileged of a kube-apiserver does, which every
// distribution sets: without it validation refuses privileged containers. Kubernetes keeps it as
// state of the process.
var allowPrivileged = sync.OnceFunc(func() { capabilities.Setup(true, 0) })

// NewCluster returns a cluster with the objects of layers; where several define the same object, the
// first layer's counts.
func NewCluster(opts ClusterOptions, layers ...*Index) *Cluster {
	allowPrivileged()
	if opts.Policies == nil {
		opts.Policies = &PolicyCreations{}
	}
	c := &Cluster{
		opts:       opts,
		layers:     layers,
		handlers:   map[schema.GroupVersionKind]*handler{},
		namespaces: map[string]*corev1.Namespace{},
	}
	c.rbac = sync.OnceValue(c.newRBAC)
	c.custom = sync.OnceValue(c.customKinds)
	c.mapper = sync.OnceValue(c.newEquivalents)
	c.plugins = sync.OnceValue(c.newPlugins)
	c.podSecurity = sync.OnceValue(c.newPodSecurity)
	c.resize = sync.OnceValue(c.newResize)
	return c
}

// Created returns the creation time of every object of the state. Admission has no other clock, so
// one time suffices; policies may rely on its being recent.
func Created() metav1.Time {
	return metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
}

// list returns the objects of a kind, each once.
func (c *Cluster) list(kind schema.GroupKind) []*Object {
	var all []*Object
	seen := map[indexKey]bool{}
	for _, layer := range c.layers {
		for _, o := range layer.byKind[kind] {
			id := indexKey{kind, c.namespace(o), o.Name()}
			if !seen[id] {
				seen[id] = true
				all = append(all, o)
			}
		}
	}
	return all
}

func (c *Cluster) get(kind schema.GroupKind, namespace, name string) *Object {
	written := []string{namespace}
	if namespace == c.assumedNamespace() {
		written = append(written, "")
	}
	for _, layer := range c.layers {
		if o := layer.get(kind, name, written...); o != nil {
			return o
		}
	}
	return nil
}

func (c *Cluster) getClusterScoped(kind schema.GroupKind, name string) *Object {
	for _, layer := range c.layers {
		if o := layer.getClusterScoped(kind, name); o != nil {
			return o
		}
	}
	return nil
}

// Resource returns how a kind is served; ok is false if it is neither built in nor defined by a
// CustomResourceDefinition of the state.
func (c *Cluster) Resource(kind schema.GroupVersionKind) (r Resource, ok bool) {
	if r, ok = builtin.Of(kind); ok {
		return r, true
	}
	crd := c.custom()[kind.GroupKind()]
	if crd == nil {
		return c.assumed(kind)
	}
	return custom.Served(crd.outline(), kind.Version)
}

// Key returns the identity of an object in the cluster, with the namespace in which it is created. An
// object of an unknown kind keeps the written namespace.
func (c *Cluster) Key(o *Object) Key {
	kind := o.GroupVersionKind()
	k := Key{Group: kind.Group, Kind: kind.Kind, Namespace: o.Namespace(), Name: o.Name()}
	if r, ok := c.Resource(kind); ok {
		k.Namespace = c.requestNamespace(r, o)
	} else if r, ok := c.anyVersion(kind.GroupKind()); ok { // a version no longer served
		k.Namespace = c.requestNamespace(r, o)
	}
	return k
}

// requestNamespace returns the namespace in which an object is created; "" for a cluster-scoped kind.
func (c *Cluster) requestNamespace(r Resource, o *Object) string {
	if !r.Namespaced {
		return ""
	}
	return c.namespace(o)
}

// namespace returns the namespace of an object of a namespaced kind.
func (c *Cluster) namespace(o *Object) string { return cmp.Or(o.Namespace(), c.assumedNamespace()) }

// assumedNamespace returns the namespace of objects that are written without one.
func (c *Cluster) assumedNamespace() string {
	return cmp.Or(c.opts.Namespace, metav1.NamespaceDefault)
}

// systemNamespaces exist in every cluster
// (k8s.io/kubernetes/pkg/controlplane/controller/systemnamespaces).
var systemNamespaces = map[string]bool{
	metav1.NamespaceDefault:   true,
	metav1.NamespaceSystem:    true,
	metav1.NamespacePublic:    true,
	corev1.NamespaceNodeLease: true,
}

// Namespace returns a namespace as the server stores it. assumed is set when the state does not
// define it, so that only its name is known. If all Namespaces are known, a missing one is a NotFound
// error.
func (c *Cluster) Namespace(name string) (ns *corev1.Namespace, assumed bool, err error) {
	o := c.getClusterScoped(kinds.Namespace, name)
	if o == nil {
		if c.Knows(kinds.Namespace) && !systemNamespaces[name] {
			return nil, false, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
		}
		assumed = !c.Knows(kinds.Namespace)
	}
	c.mu.Lock()
	ns, ok := c.namespaces[name]
	c.mu.Unlock()
	if ok {
		return ns, assumed, nil
	}
	if o == nil {
		o = NewObject(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	}
	ns, err = c.storedNamespace(o)
	return ns, assumed, err
}

func (c *Cluster) storedNamespace(o *Object) (*corev1.Namespace, error) {
	obj, err := c.Stored(o, corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err != nil {
		return nil, err
	}
	ns := obj.(*corev1.Namespace)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.namespaces[o.Name()] = ns
	return ns, nil
}

// Find returns an object of the state by name; nil when there is none.
func (c *Cluster) Find(r Resource, namespace, name string) *Object {
	if !r.Namespaced {
		return c.getClusterScoped(r.Kind.GroupKind(), name)
	}
	return c.get(r.Kind.GroupKind(), namespace, name)
}

// List returns the objects of a kind in a namespace ("" for cluster-scoped kinds), sorted by name.
func (c *Cluster) List(r Resource, namespace string) []*Object {
	var found []*Object
	for _, o := range c.list(r.Kind.GroupKind()) {
		if c.requestNamespace(r, o) == namespace {
			found = append(found, o)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Name() < found[j].Name() })
	return found
}

// serviceCIDRKind is the kind that determines the IP families of Services.
var serviceCIDRKind = schema.GroupKind{Group: "networking.k8s.io", Kind: "ServiceCIDR"}

// Knows reports whether the state has all objects of a kind.
func (c *Cluster) Knows(kind schema.GroupKind) bool { return c.opts.Known.Has(kind) }

// KnowsRBAC reports whether the state has all objects that grant rights.
func (c *Cluster) KnowsRBAC() bool { return c.opts.Known.HasRBAC() }

// KnowsKinds reports whether the state has all CustomResourceDefinitions, so that a
// kind that is not served does not exist.
func (c *Cluster) KnowsKinds() bool { return c.Knows(kinds.Definition) }

// Lacks reports whether the cluster certainly has no matching object of a kind: all objects of the
// kind are known, or a matching one was removed. The caller has found none in the state.
func (c *Cluster) Lacks(r Resource, namespace string, matches func(*Object) bool) bool {
	if c.Knows(r.Kind.GroupKind()) {
		return true
	}
	return c.opts.Removed != nil && slices.ContainsFunc(c.opts.Removed.byKind[r.Kind.GroupKind()], func(o *Object) bool {
		return c.requestNamespace(r, o) == namespace && matches(o)
	})
}
