package admission

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Index holds the objects of one origin (a root, the other roots of a repository, files given beside
// it) for look-up. It is immutable and may be shared by clusters.
type Index struct {
	byKind map[schema.GroupKind][]*Object
	byName map[indexKey]placed
	// definitions caches the CustomResourceDefinitions compiled so far.
	definitions sync.Map // *Object -> *definition
}

// placed is an object and its position in the index.
type placed struct {
	*Object
	at int
}

type indexKey struct {
	kind            schema.GroupKind
	namespace, name string
}

// NewIndex indexes objects. Of two with the same group, kind, namespace and name the first counts.
func NewIndex(objects []*Object) *Index {
	x := &Index{byKind: map[schema.GroupKind][]*Object{}, byName: map[indexKey]placed{}}
	for i, o := range objects {
		kind := o.GroupVersionKind().GroupKind()
		key := indexKey{kind, o.Namespace(), o.Name()}
		if _, ok := x.byName[key]; ok && key.name != "" {
			continue
		}
		x.byName[key] = placed{o, i}
		x.byKind[kind] = append(x.byKind[kind], o)
	}
	return x
}

// get returns the first object of a name that is written with one of the namespaces, which may
// include "".
func (x *Index) get(kind schema.GroupKind, name string, namespaces ...string) *Object {
	var first placed
	for _, namespace := range namespaces {
		if o, ok := x.byName[indexKey{kind, namespace, name}]; ok && (first.Object == nil || o.at < first.at) {
			first = o
		}
	}
	return first.Object
}

// Without returns an index without the objects of some kinds.
func (x *Index) Without(of func(schema.GroupKind) bool) *Index {
	var rest []*Object
	for kind, objects := range x.byKind {
		if !of(kind) {
			rest = append(rest, objects...)
		}
	}
	return NewIndex(rest)
}

// getClusterScoped returns an object by name alone: the server drops a namespace written on a
// cluster-scoped object.
func (x *Index) getClusterScoped(kind schema.GroupKind, name string) *Object {
	if o := x.get(kind, name, ""); o != nil {
		return o
	}
	for _, o := range x.byKind[kind] {
		if o.Name() == name {
			return o
		}
	}
	return nil
}
