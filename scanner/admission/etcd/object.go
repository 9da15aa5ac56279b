package etcd

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// Object is an object as it was read, which is not modified. It is safe for concurrent use.
type Object struct {
	obj      runtime.Object
	mu       sync.Mutex
	versions map[schema.GroupVersionKind]map[string]any
}

// NewObject returns an Object.
func NewObject(obj runtime.Object) *Object {
	return &Object{obj: obj, versions: map[schema.GroupVersionKind]map[string]any{}}
}

// Copy returns a copy of the object that may be changed.
func (o *Object) Copy() runtime.Object { return o.obj.DeepCopyObject() }

// Is reports whether an object is equal, so that its content in any version is equal.
func (o *Object) Is(obj runtime.Object) bool { return reflect.DeepEqual(o.obj, obj) }

// Content returns the content in a version of the kind, converted once. It must not be modified.
func (o *Object) Content(kind schema.GroupVersionKind, interfaces admission.ObjectInterfaces) (map[string]any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if content, ok := o.versions[kind]; ok {
		return content, nil
	}
	obj := o.obj
	if _, custom := obj.(runtime.Unstructured); custom { // its conversion may change it
		obj = o.Copy()
	}
	obj, err := admission.ConvertToGVK(obj, kind, interfaces)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err == nil {
		o.versions[kind] = content
	}
	return content, err
}
