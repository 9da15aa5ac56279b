package admission

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
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
