package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity"
)

// newPodSecurity makes the PodSecurity plugin over the cluster's namespaces. A
// namespace that nothing defines has no pod-security labels, hence no limits.
func (c *Cluster) newPodSecurity() admission.ValidationInterface {
	plugins := admission.NewPlugins()
	podsecurity.Register(plugins)
	plugin, err := plugins.InitPlugin(podsecurity.PluginName, nil, podSecurityInitializer{client: Client{Cluster: c}})
	if err != nil {
		panic(fmt.Sprintf("admission plugin %s: %v", podsecurity.PluginName, err)) // takes no configuration
	}
	return plugin.(admission.ValidationInterface)
}

type podSecurityInitializer struct{ client kubernetes.Interface }

// Initialize implements admission.PluginInitializer.
func (i podSecurityInitializer) Initialize(plugin admission.Interface) {
	p := plugin.(*podsecurity.Plugin)
	p.InspectEffectiveVersion(basecompatibility.NewEffectiveVersionFromString(KubernetesVersion, "", ""))
	p.SetExternalKubeInformerFactory(informers.NewSharedInformerFactory(nil, 0)) // empty, so the client is asked
	p.SetExternalKubeClientSet(i.client)
}

// podSecurityResources are those whose pods the plugin judges, and namespaces,
// whose labels it checks.
var podSecurityResources = map[schema.GroupResource]bool{
	gr("", "pods"): true, gr("", "podtemplates"): true, gr("", "replicationcontrollers"): true, gr("", "namespaces"): true,
	gr("apps", "deployments"): true, gr("apps", "replicasets"): true, gr("apps", "statefulsets"): true, gr("apps", "daemonsets"): true,
	gr("batch", "jobs"): true, gr("batch", "cronjobs"): true,
}

// validate runs the validating plugins that come before policies.
func (p *preparation) validate(ctx context.Context, a admission.Attributes) error {
	if !podSecurityResources[p.handler.resource.GroupResource()] || p.handler.resource.Custom {
		return nil
	}
	plugin := p.cluster.podSecurity()
	if !plugin.Handles(a.GetOperation()) {
		return nil
	}
	return plugin.Validate(ctx, a, p.handler.interfaces)
}

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

// Pods of the state are not looked at: relabelling a namespace warns of running
// pods, which an offline API server has none of.
func (c coreClient) Pods(string) corev1client.PodInterface { return podLister{} }

type podLister struct{ corev1client.PodInterface }

func (podLister) List(context.Context, metav1.ListOptions) (*corev1.PodList, error) {
	return &corev1.PodList{}, nil
}
