package admission

import (
	"context"
	"fmt"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	schedulingapi "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection"
)

// mutator is a mutating admission plugin.
type mutator = admission.MutationInterface

// newPlugins are the mutating plugins a kube-apiserver enables by default, in
// its order (k8s.io/kubernetes/pkg/kubeapiserver/options, AllOrderedPlugins), as
// far as they change objects without asking controllers or webhooks.
func (c *Cluster) newPlugins() []mutator {
	prio := priority.NewPlugin()
	prio.SetExternalKubeInformerFactory(c.priorityClasses())
	tolerations := defaulttolerationseconds.NewDefaultTolerationSeconds()
	tolerations.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	return []mutator{
		nodetaint.NewPlugin(),
		prio,
		tolerations,
		storageProtection(),
	}
}

// storageProtection makes the plugin through its registration, which is the only
// way it is exported.
func storageProtection() mutator {
	plugins := admission.NewPlugins()
	storageobjectinuseprotection.Register(plugins)
	plugin, err := plugins.InitPlugin(storageobjectinuseprotection.PluginName, nil, admission.PluginInitializers{})
	if err != nil {
		panic(fmt.Sprintf("admission plugin %s: %v", storageobjectinuseprotection.PluginName, err)) // takes no configuration
	}
	return plugin.(mutator)
}

// priorityClasses is an informer factory that knows the PriorityClasses of the
// state and those every kube-apiserver creates at start.
func (c *Cluster) priorityClasses() informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactory(nil, 0)
	store := factory.Scheduling().V1().PriorityClasses().Informer().GetIndexer()
	classes := schedulingapi.SystemPriorityClasses()
	for _, o := range c.list(schema.GroupKind{Group: schedulingv1.GroupName, Kind: "PriorityClass"}) {
		if obj, err := c.Stored(o, schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")); err == nil {
			classes = append(classes, obj.(*schedulingv1.PriorityClass))
		}
	}
	for _, class := range classes {
		if err := store.Add(class); err != nil {
			panic(fmt.Sprintf("index PriorityClass %s: %v", class.Name, err)) // an object with metadata always has a key
		}
	}
	return factory
}

// mutate runs namespace lifecycle and the mutating plugins.
func (p *preparation) mutate(ctx context.Context, a admission.Attributes) error {
	if err := p.lifecycle(a); err != nil {
		return err
	}
	for _, plugin := range p.cluster.pluginsFor(p.handler.resource) {
		if !plugin.Handles(a.GetOperation()) {
			continue
		}
		err := plugin.Admit(ctx, a, p.handler.interfaces)
		if err != nil && !p.forgiven(err) {
			return err
		}
	}
	return nil
}

// forgiven: a PriorityClass nobody defines may still exist in a cluster whose
// state is not all known.
func (p *preparation) forgiven(err error) bool {
	return !p.cluster.opts.Complete && apierrors.IsForbidden(err)
}

// pluginsFor leaves the plugins out for kinds none of them changes. (They read
// PriorityClasses of the state, so these must not need them.)
func (c *Cluster) pluginsFor(r Resource) []mutator {
	if r.Custom {
		return nil
	}
	switch r.GroupResource() {
	case gr("", "pods"), gr("", "nodes"), gr("", "persistentvolumes"), gr("", "persistentvolumeclaims"):
		return c.plugins()
	}
	return nil
}

// lifecycle does what the NamespaceLifecycle plugin does for namespaces that are
// not being deleted (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func (p *preparation) lifecycle(a admission.Attributes) error {
	isNamespace := p.handler.resource.Kind.GroupKind() == namespaceKind
	if isNamespace {
		if a.GetOperation() == admission.Delete && immortal[a.GetName()] {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(), fmt.Errorf("this namespace may not be deleted"))
		}
		return nil
	}
	if a.GetNamespace() == "" || a.GetOperation() == admission.Delete || !p.cluster.opts.Complete {
		return nil
	}
	_, _, err := p.cluster.Namespace(a.GetNamespace())
	return err
}

// immortal are the namespaces NamespaceLifecycle protects.
var immortal = map[string]bool{
	metav1.NamespaceDefault: true,
	metav1.NamespaceSystem:  true,
	metav1.NamespacePublic:  true,
}
