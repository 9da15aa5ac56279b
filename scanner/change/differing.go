package change

import (
	"slices"

	"github.com/preadmit/preadmit/scanner/admission"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func allOf(results []*Rendered) []*admission.Object {
	var objects []*admission.Object
	for _, r := range results {
		objects = append(objects, r.Objects...)
	}
	return objects
}

// namesake is the part of an object's key that is known without its namespace.
type namesake struct {
	schema.GroupKind
	name string
}

// differing returns the objects of both lists that may have no equal when the lists are paired. For
// objects with the same namesake the number and order matter too.
func differing(base, head []*admission.Object) []*admission.Object {
	before, after := namesakes(base), namesakes(head)
	var differ []*admission.Object
	for key, objects := range after {
		if !slices.EqualFunc(before[key], objects, Equal) {
			differ = append(append(differ, before[key]...), objects...)
		}
	}
	for key, objects := range before {
		if after[key] == nil {
			differ = append(differ, objects...)
		}
	}
	return differ
}

func namesakes(objects []*admission.Object) map[namesake][]*admission.Object {
	all := map[namesake][]*admission.Object{}
	for _, o := range objects {
		key := namesake{o.GroupVersionKind().GroupKind(), o.Name()}
		all[key] = append(all[key], o)
	}
	return all
}
