package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	nodev1client "k8s.io/client-go/kubernetes/typed/node/v1"
)

// Client is a Kubernetes client that can read the namespaces of a cluster, for
// the plugins of the API server that ask one.
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

// limitRangeLister is asked when the informer knows no LimitRange of a namespace.
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

// runtimeClassGetter is asked when the informer does not know a RuntimeClass.
type runtimeClassGetter struct {
	nodev1client.RuntimeClassInterface
}

func (runtimeClassGetter) Get(_ context.Context, name string, _ metav1.GetOptions) (*nodev1.RuntimeClass, error) {
	return nil, apierrors.NewNotFound(nodev1.Resource("runtimeclasses"), name)
}

// Pods of the state are not looked at: relabelling a namespace warns of running
// pods, which an offline API server has none of.
func (c coreClient) Pods(string) corev1client.PodInterface { return podLister{} }

type podLister struct{ corev1client.PodInterface }

func (podLister) List(context.Context, metav1.ListOptions) (*corev1.PodList, error) {
	return &corev1.PodList{}, nil
}
