package admission

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/network/defaultingressclass"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageclass/setdefault"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/listers"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// mutator is a mutating admission plugin.
type mutator struct {
	admission.MutationInterface
	// looksFor is the kind of objects without which the plugin refuses a request; the zero value if
	// there is none. If not all of them are known, one that is not found may exist.
	looksFor schema.GroupKind
}

// knowsClasses reports whether the state has all objects without which a plugin refuses a request.
func (c *Cluster) knowsClasses(m mutator) bool {
	return m.looksFor.Kind == "" || c.Knows(m.looksFor)
}

var (
	priorityClassKind = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	runtimeClassKind  = schema.GroupKind{Group: "node.k8s.io", Kind: "RuntimeClass"}
	storageClassKind  = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
)

// newPlugins returns the mutating plugins that a kube-apiserver enables by default, in its order
// (k8s.io/kubernetes/pkg/kubeapiserver/options, AllOrderedPlugins), as far as they change objects
// depending on the state.
func (c *Cluster) newPlugins() []mutator {
	registry := admission.NewPlugins()
	for _, register := range []func(*admission.Plugins){
		limitranger.Register, serviceaccount.Register, nodetaint.Register, priority.Register, defaulttolerationseconds.Register,
		setdefault.Register, storageobjectinuseprotection.Register, runtimeclass.Register, defaultingressclass.Register, podtopologylabels.Register,
	} {
		register(registry)
	}
	looksFor := map[string]schema.GroupKind{priority.PluginName: priorityClassKind, runtimeclass.PluginName: runtimeClassKind}
	initializer := pluginInitializer{factory: listers.Ordered(c.informers()), client: Client{Cluster: c}}
	var plugins []mutator
	for _, name := range []string{
		limitranger.PluginName, serviceaccount.PluginName, nodetaint.PluginName, priority.PluginName, defaulttolerationseconds.PluginName,
		setdefault.PluginName, storageobjectinuseprotection.PluginName, runtimeclass.PluginName, defaultingressclass.PluginName, podtopologylabels.PluginName,
	} {
		plugin, err := registry.InitPlugin(name, nil, initializer)
		if err != nil {
			panic(fmt.Sprintf("admission plugin %s: %v", name, err)) // it takes no configuration
		}
		if p, ok := plugin.(interface{ SetReadyFunc(admission.ReadyFunc) }); ok {
			p.SetReadyFunc(func() bool { return true }) // the listers are complete from the start
		}
		m := mutator{MutationInterface: plugin.(admission.MutationInterface), looksFor: looksFor[name]}
		if name == serviceaccount.PluginName {
			m.MutationInterface = tokenPlugin{m.MutationInterface, c}
		}
		plugins = append(plugins, m)
	}
	return plugins
}

// pluginInitializer sets the dependencies of plugins.
type pluginInitializer struct {
	factory informers.SharedInformerFactory
	client  kubernetes.Interface
}

// Initialize implements admission.PluginInitializer.
func (i pluginInitializer) Initialize(plugin admission.Interface) {
	if p, ok := plugin.(initializer.WantsFeatures); ok {
		p.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	}
	if p, ok := plugin.(initializer.WantsExternalKubeInformerFactory); ok {
		p.SetExternalKubeInformerFactory(i.factory)
	}
	if p, ok := plugin.(initializer.WantsExternalKubeClientSet); ok {
		p.SetExternalKubeClientSet(i.client)
	}
}

// informers returns a factory whose listers list the objects of the state that plugins look up.
func (c *Cluster) informers() informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactory(nil, 0)
	for k := range kinds.With(kinds.Completes) {
		kind := k.WithVersion(k.Version)
		served, _ := builtin.Of(kind)
		informer, err := factory.ForResource(served.GroupVersionResource)
		if err != nil {
			panic(fmt.Sprintf("admission plugins cannot look up %s: %v", kind, err)) // the table of kinds is wrong
		}
		index(informer.Informer().GetIndexer(), c.lookedUp(kind)...)
	}
	return factory
}

// index adds objects to the store of a lister.
func index(store cache.Indexer, objects ...runtime.Object) {
	for _, obj := range objects {
		if err := store.Add(obj); err != nil {
			panic(fmt.Sprintf("index %T: %v", obj, err)) // an object with metadata always has a key
		}
	}
}

// lookedUp returns the objects of a kind for the listers of plugins: those of the state, and the
// PriorityClasses that every kube-apiserver creates at start.
func (c *Cluster) lookedUp(kind schema.GroupVersionKind) []runtime.Object {
	switch kind.Kind {
	case "Node":
		return c.nodes()
	case "PriorityClass":
		return append(listers.SystemPriorityClasses(), c.storedAll(kind)...)
	}
	return c.storedAll(kind)
}

// storedAll returns the objects of a kind as the server stores them, without those that it refuses.
func (c *Cluster) storedAll(kind schema.GroupVersionKind) []runtime.Object {
	var all []runtime.Object
	for _, o := range c.list(kind.GroupKind()) {
		if obj, err := c.Stored(o, kind); err == nil {
			all = append(all, obj)
		}
	}
	return all
}

// nodes returns the Nodes of the state with their labels only, which a plugin reads: storing a whole
// Node needs the plugins that are being created.
func (c *Cluster) nodes() []runtime.Object {
	var all []runtime.Object
	for _, o := range c.list(schema.GroupKind{Kind: "Node"}) {
		all = append(all, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: o.Name(), Labels: o.Labels()}})
	}
	return all
}

// Mutator changes objects after the mutating plugins, as MutatingAdmissionPolicies do.
type Mutator interface {
	// Mutate changes the object of a request. The error is the server's refusal, or an error that the
	// result depends on values that only the cluster knows.
	Mutate(ctx context.Context, r *Request) error
}

// mutate runs namespace lifecycle and the mutating plugins, and all of them again if a policy changed
// the object (k8s.io/apiserver/pkg/admission, reinvoker).
func (p *preparation) mutate(ctx context.Context, a admission.Attributes) error {
	if err := p.mutateOnce(ctx, a); err != nil {
		return err
	}
	if again := a.GetReinvocationContext(); again.ShouldReinvoke() {
		again.SetIsReinvoke()
		return p.mutateOnce(ctx, a)
	}
	return nil
}

func (p *preparation) mutateOnce(ctx context.Context, a admission.Attributes) error {
	if err := p.lifecycle(a); err != nil {
		return err
	}
	for _, plugin := range p.cluster.mutators(p.handler.resource) {
		if !plugin.Handles(a.GetOperation()) {
			continue
		}
		err := plugin.Admit(ctx, a, p.handler.interfaces)
		if err != nil && p.cluster.knowsClasses(plugin) {
			return err
		}
	}
	if p.client.Mutator == nil {
		return nil
	}
	req := newRequest(p.cluster, a, p.handler.interfaces)
	req.unknown, req.unknownOld = p.unknown.object, p.unknown.old
	if p.client.controls != nil {
		req.unknown, req.unknownOld = slices.Concat(req.unknown, p.client.controls.Unknown), slices.Concat(req.unknownOld, p.client.controls.Unknown)
	}
	return p.client.Mutator.Mutate(ctx, req)
}

// mutators returns the plugins for a resource, none for resources that no plugin changes. (Plugins
// read classes and LimitRanges of the state, so preparing these must not need plugins.)
func (c *Cluster) mutators(r Resource) []mutator {
	if r.Custom {
		return nil
	}
	switch r.GroupResource() {
	case gr("", "pods"), gr("", "nodes"), gr("", "persistentvolumes"), gr("", "persistentvolumeclaims"),
		gr("networking.k8s.io", "ingresses"), gr("storage.k8s.io", "volumeattributesclasses"):
		return c.plugins()
	}
	return nil
}

// lifecycle does what the NamespaceLifecycle plugin does for namespaces that are not being deleted
// (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func (p *preparation) lifecycle(a admission.Attributes) error {
	isNamespace := p.handler.resource.Kind.GroupKind() == kinds.Namespace
	if isNamespace {
		if a.GetOperation() == admission.Delete && immortal[a.GetName()] {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(), fmt.Errorf("this namespace may not be deleted"))
		}
		return nil
	}
	if a.GetNamespace() == "" || a.GetOperation() == admission.Delete || !p.cluster.Knows(kinds.Namespace) {
		return nil
	}
	_, _, err := p.cluster.Namespace(a.GetNamespace())
	return err
}

// immortal are the namespaces that NamespaceLifecycle protects.
var immortal = map[string]bool{
	metav1.NamespaceDefault: true,
	metav1.NamespaceSystem:  true,
	metav1.NamespacePublic:  true,
}
