package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	nodev1client "k8s.io/client-go/kubernetes/typed/node/v1"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
)

// Client is a Kubernetes client that can read the namespaces of a cluster, for plugins of the API
// server that need a client.
type Client struct {
	kubernetes.Interface
	Cluster *Cluster
}

// CoreV1 implements kubernetes.Interface.
func (c Client) CoreV1() corev1client.CoreV1Interface { return coreClient{cluster: c.Cluster} }

type coreClient struct {
	corev1client.CoreV1Interface
	cluster *Cluster
}

func (c coreClient) Namespaces() corev1client.NamespaceInterface {
	return namespaceGetter{cluster: c.cluster}
}

func (c coreClient) LimitRanges(string) corev1client.LimitRangeInterface { return limitRangeLister{} }

// limitRangeLister is used when the informer knows no LimitRange of a namespace.
type limitRangeLister struct {
	corev1client.LimitRangeInterface
}

func (limitRangeLister) List(context.Context, metav1.ListOptions) (*corev1.LimitRangeList, error) {
	return &corev1.LimitRangeList{}, nil
}

// NodeV1 implements kubernetes.Interface.
func (c Client) NodeV1() nodev1client.NodeV1Interface { return nodeClient{} }

type nodeClient struct{ nodev1client.NodeV1Interface }

func (nodeClient) RuntimeClasses() nodev1client.RuntimeClassInterface { return runtimeClassGetter{} }

// runtimeClassGetter is used when the informer does not know a RuntimeClass.
type runtimeClassGetter struct {
	nodev1client.RuntimeClassInterface
}

func (runtimeClassGetter) Get(_ context.Context, name string, _ metav1.GetOptions) (*nodev1.RuntimeClass, error) {
	return nil, apierrors.NewNotFound(nodev1.Resource("runtimeclasses"), name)
}

// Resolve implements the registry's resolver.ResourceResolver.
func (c *Cluster) Resolve(kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	r, ok := c.Resource(kind)
	if !ok {
		return schema.GroupVersionResource{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	return r.GroupVersionResource, nil
}

// GetValidatingAdmissionPolicy implements the binding registry's PolicyGetter.
func (c *Cluster) GetValidatingAdmissionPolicy(_ context.Context, name string) (*admissionregistration.ValidatingAdmissionPolicy, error) {
	obj, err := c.registration("ValidatingAdmissionPolicy", "validatingadmissionpolicies", name)
	if err != nil {
		return nil, err
	}
	return as[*admissionregistration.ValidatingAdmissionPolicy](obj)
}

// GetMutatingAdmissionPolicy implements the binding registry's PolicyGetter.
func (c *Cluster) GetMutatingAdmissionPolicy(_ context.Context, name string) (*admissionregistration.MutatingAdmissionPolicy, error) {
	obj, err := c.registration("MutatingAdmissionPolicy", "mutatingadmissionpolicies", name)
	if err != nil {
		return nil, err
	}
	return as[*admissionregistration.MutatingAdmissionPolicy](obj)
}

func as[T runtime.Object](obj runtime.Object) (T, error) {
	t, ok := obj.(T)
	if !ok {
		return t, fmt.Errorf("unexpected type %T", obj)
	}
	return t, nil
}

// registration decodes an object of admissionregistration.k8s.io from the state.
func (c *Cluster) registration(kind, resource, name string) (runtime.Object, error) {
	o := c.getClusterScoped(schema.GroupKind{Group: groupAdmissionregistration, Kind: kind}, name)
	if o == nil {
		return nil, apierrors.NewNotFound(gr(groupAdmissionregistration, resource), name)
	}
	obj, _, err := decodeBuiltin(o.GroupVersionKind(), o)
	return obj, err
}

// namespaceGetter is a client of Namespaces that can only get.
type namespaceGetter struct {
	corev1client.NamespaceInterface
	cluster *Cluster
}

func (g namespaceGetter) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	ns, _, err := g.cluster.Namespace(name)
	return ns, err
}
