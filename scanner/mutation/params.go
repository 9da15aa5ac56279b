package mutation

import (
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/preadmit/preadmit/scanner/admission"
)

// params implements the informer through which the dispatcher reads the objects of a kind that
// bindings refer to.
type params struct {
	cluster   *admission.Cluster
	resource  admission.Resource
	kind      schema.GroupVersionKind
	namespace string
}

var _ informers.GenericInformer = params{}

// Informer implements informers.GenericInformer.
func (params) Informer() cache.SharedIndexInformer { return synced{} }

// Lister implements informers.GenericInformer.
func (p params) Lister() cache.GenericLister { return p }

// ByNamespace implements cache.GenericLister.
func (p params) ByNamespace(namespace string) cache.GenericNamespaceLister {
	p.namespace = namespace
	return p
}

// List implements cache.GenericLister, sorted by name.
func (p params) List(selector labels.Selector) ([]runtime.Object, error) {
	var all []runtime.Object
	for _, o := range p.cluster.List(p.resource, p.namespace) {
		if !selector.Matches(labels.Set(o.Labels())) {
			continue
		}
		param, err := p.read(o)
		if err != nil {
			return nil, err
		}
		all = append(all, param)
	}
	return all, nil
}

// Get implements cache.GenericLister.
func (p params) Get(name string) (runtime.Object, error) {
	o := p.cluster.Find(p.resource, p.namespace, name)
	if o == nil {
		return nil, errors.NewNotFound(p.resource.GroupResource(), name)
	}
	return p.read(o)
}

// read returns a param in the version of paramKind.
func (p params) read(o *admission.Object) (runtime.Object, error) {
	content, _, err := p.cluster.StoredContent(o, p.kind)
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// synced is an informer that is synced from the start.
type synced struct{ cache.SharedIndexInformer }

// HasSynced implements cache.SharedInformer.
func (synced) HasSynced() bool { return true }
