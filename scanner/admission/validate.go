package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preadmit/preadmit/scanner/admission/certificates"
	"github.com/preadmit/preadmit/scanner/admission/emulation"
)

// validate runs the validating plugins that come before policies.
func (p *preparation) validate(ctx context.Context, a admission.Attributes) error {
	for _, plugin := range p.validators() {
		if !plugin.Handles(a.GetOperation()) {
			continue
		}
		if err := plugin.Validate(ctx, a, p.handler.interfaces); err != nil {
			return err
		}
	}
	return nil
}

// validators returns the plugins that judge the resource of a request.
func (p *preparation) validators() []admission.ValidationInterface {
	c, r := p.cluster, p.handler.resource
	if r.Custom {
		return nil
	}
	judged := c.mutators(r)
	if r.GroupResource() == gr("scheduling.k8s.io", "priorityclasses") {
		judged = c.plugins()
	}
	plugins := c.validating(judged, false)
	if podSecurityResources[r.GroupResource()] {
		plugins = append(plugins, c.podSecurity())
	}
	plugins = append(plugins, c.validating(judged, true)...)
	if r.GroupResource() == gr("", "persistentvolumeclaims") {
		plugins = append(plugins, c.resize())
	}
	if r.GroupResource() == gr("certificates.k8s.io", "certificatesigningrequests") {
		var rights authorizer.Authorizer
		if c.KnowsRBAC() {
			rights = c.rbac().Authorizer
		}
		plugins = append(plugins, certificates.Plugins(rights)...)
	}
	return plugins
}

// validating returns the mutating plugins that validate too: the LimitRanger comes before
// PodSecurity, and those that look for a class after it. The latter refuse requests if they do not
// find it, so they only run if all classes are known.
func (c *Cluster) validating(plugins []mutator, classes bool) []admission.ValidationInterface {
	var found []admission.ValidationInterface
	for _, m := range plugins {
		v, ok := m.MutationInterface.(admission.ValidationInterface)
		if ok && (m.looksFor.Kind != "") == classes && c.knowsClasses(m) {
			found = append(found, v)
		}
	}
	return found
}

// newPodSecurity returns the PodSecurity plugin with the cluster's namespaces. A namespace that
// nothing defines has no pod-security labels, hence no limits.
func (c *Cluster) newPodSecurity() admission.ValidationInterface {
	plugins := admission.NewPlugins()
	podsecurity.Register(plugins)
	plugin, err := plugins.InitPlugin(podsecurity.PluginName, nil, podSecurityInitializer{client: Client{Cluster: c}, pods: c.knownPods})
	if err != nil {
		panic(fmt.Sprintf("admission plugin %s: %v", podsecurity.PluginName, err)) // it takes no configuration
	}
	return plugin.(admission.ValidationInterface)
}

type podSecurityInitializer struct {
	client kubernetes.Interface
	pods   func() []runtime.Object
}

// Initialize implements admission.PluginInitializer.
func (i podSecurityInitializer) Initialize(plugin admission.Interface) {
	p := plugin.(*podsecurity.Plugin)
	p.InspectEffectiveVersion(emulation.EffectiveVersion())
	factory := informers.NewSharedInformerFactory(nil, 0) // without Namespaces, so they are read through the client
	index(factory.Core().V1().Pods().Informer().GetIndexer(), i.pods()...)
	p.SetExternalKubeInformerFactory(factory)
	p.SetExternalKubeClientSet(i.client)
}

// knownPods returns the Pods of the state, about which the plugin warns when the labels of their
// namespace change; none if not all Pods are known.
func (c *Cluster) knownPods() []runtime.Object {
	pods := corev1.SchemeGroupVersion.WithKind("Pod")
	if !c.Knows(pods.GroupKind()) {
		return nil
	}
	return c.storedAll(pods)
}

// podSecurityResources are the resources with pods that the plugin judges, and namespaces, whose
// labels it checks.
var podSecurityResources = map[schema.GroupResource]bool{
	gr("", "pods"): true, gr("", "podtemplates"): true, gr("", "replicationcontrollers"): true, gr("", "namespaces"): true,
	gr("apps", "deployments"): true, gr("apps", "replicasets"): true, gr("apps", "statefulsets"): true, gr("apps", "daemonsets"): true,
	gr("batch", "jobs"): true, gr("batch", "cronjobs"): true,
}
