package admission

import (
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// Request is an admission request at the point where validating admission runs.
// It is safe for concurrent use and must not be modified.
type Request struct {
	admission.Attributes
	// Interfaces convert the request's objects to the version a policy matches.
	Interfaces admission.ObjectInterfaces

	cluster  *Cluster
	mu       sync.Mutex
	versions map[schema.GroupVersionKind]*Version
}

func newRequest(c *Cluster, a admission.Attributes, o admission.ObjectInterfaces) *Request {
	return &Request{Attributes: a, Interfaces: o, cluster: c, versions: map[schema.GroupVersionKind]*Version{}}
}

// Version is a request with its objects in one version of their kind.
type Version struct {
	*admission.VersionedAttributes
	// Object and OldObject are the objects as CEL expressions see them: untyped
	// content, nil when absent.
	Object, OldObject map[string]any
}

// Version converts the request's objects, once for each version.
func (r *Request) Version(kind schema.GroupVersionKind) (*Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.versions[kind]; ok {
		return v, nil
	}
	attributes, err := admission.NewVersionedAttributes(r.Attributes, kind, r.Interfaces)
	if err != nil {
		return nil, err
	}
	v := &Version{VersionedAttributes: attributes}
	if v.Object, err = Content(attributes.VersionedObject); err != nil {
		return nil, fmt.Errorf("failed to prepare object variable for evaluation: %w", err)
	}
	if v.OldObject, err = Content(attributes.VersionedOldObject); err != nil {
		return nil, fmt.Errorf("failed to prepare oldObject variable for evaluation: %w", err)
	}
	r.versions[kind] = v
	return v, nil
}

// Content returns an object as untyped content, the form in which CEL expressions
// of the API server see it; nil for no object.
func Content(obj runtime.Object) (map[string]any, error) {
	if obj == nil || reflect.ValueOf(obj).IsNil() {
		return nil, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}
