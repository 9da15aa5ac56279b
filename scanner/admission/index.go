package admission

import (
	"cmp"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Index holds the objects of one origin - a root, the rest of a repository,
// files given beside it - for look-up. It is immutable and may be shared by
// clusters.
type Index struct {
	byKind map[schema.GroupKind][]*Object
	byName map[indexKey]*Object
	// definitions caches the CustomResourceDefinitions compiled so far.
	definitions sync.Map // *Object -> *definition
}

type indexKey struct {
	kind            schema.GroupKind
	namespace, name string
}

// keyOf has "default" for no namespace: that is where an object written without one
// lives, and the keys of cluster-scoped kinds only have to be equal.
func keyOf(kind schema.GroupKind, namespace, name string) indexKey {
	return indexKey{kind, cmp.Or(namespace, defaultNamespace), name}
}

// NewIndex indexes objects. Of two with the same group, kind, namespace and name
// the first counts.
func NewIndex(objects []*Object) *Index {
	x := &Index{byKind: map[schema.GroupKind][]*Object{}, byName: map[indexKey]*Object{}}
	for _, o := range objects {
		kind := o.GroupVersionKind().GroupKind()
		key := keyOf(kind, o.Namespace(), o.Name())
		if _, ok := x.byName[key]; ok && key.name != "" {
			continue
		}
		x.byName[key] = o
		x.byKind[kind] = append(x.byKind[kind], o)
	}
	return x
}

// get finds a namespaced object.
func (x *Index) get(kind schema.GroupKind, namespace, name string) *Object {
	return x.byName[keyOf(kind, namespace, name)]
}

// getClusterScoped finds an object by name alone: a namespace written on a
// cluster-scoped object is dropped by the server.
func (x *Index) getClusterScoped(kind schema.GroupKind, name string) *Object {
	if o, ok := x.byName[keyOf(kind, "", name)]; ok {
		return o
	}
	for _, o := range x.byKind[kind] {
		if o.Name() == name {
			return o
		}
	}
	return nil
}
