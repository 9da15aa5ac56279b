package admission

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/listers"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// newResize returns the PersistentVolumeClaimResize plugin.
func (c *Cluster) newResize() admission.ValidationInterface {
	registry := admission.NewPlugins()
	resize.Register(registry)
	factory := listers.Ordered(c.informers())
	plugin, err := registry.InitPlugin(resize.PluginName, nil, resizeInitializer{factory})
	if err != nil {
		panic(fmt.Sprintf("admission plugin %s: %v", resize.PluginName, err)) // it takes no configuration
	}
	return resizePlugin{plugin.(admission.ValidationInterface), c, factory.Storage().V1().StorageClasses().Lister()}
}

// resizeInitializer sets the plugin's informer factory. Its listers are complete from the start, so
// the plugin is always ready.
type resizeInitializer struct {
	factory informers.SharedInformerFactory
}

// Initialize implements admission.PluginInitializer.
func (i resizeInitializer) Initialize(plugin admission.Interface) {
	p := plugin.(interface {
		SetExternalKubeInformerFactory(informers.SharedInformerFactory)
		SetReadyFunc(admission.ReadyFunc)
	})
	p.SetExternalKubeInformerFactory(i.factory)
	p.SetReadyFunc(func() bool { return true })
}

// resizePlugin is the PersistentVolumeClaimResize plugin, which refuses to expand a claim if it does
// not find its StorageClass. If not all classes are known, one that is not found may exist and allow
// it; the result is then unknown.
type resizePlugin struct {
	admission.ValidationInterface
	cluster *Cluster
	classes storagelisters.StorageClassLister
}

// Validate implements admission.ValidationInterface.
func (r resizePlugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	err := r.ValidationInterface.Validate(ctx, a, o)
	claim, ok := a.GetOldObject().(*api.PersistentVolumeClaim)
	if err == nil || !ok || claim.Status.Phase != api.ClaimBound || r.cluster.Knows(storageClassKind) {
		return err
	}
	why := "no StorageClass is written in the claim, and the default one is not in the repository"
	if class := claim.Spec.StorageClassName; class != nil {
		if *class == "" {
			return err
		}
		if _, missing := r.classes.Get(*class); missing == nil {
			return err
		}
		why = fmt.Sprintf("StorageClass %q is not in the repository", *class)
	}
	return &unknown.Error{What: "whether the claim may grow", Fields: []render.Unknown{{Path: []string{"spec", "storageClassName"}, Reason: why}}}
}
