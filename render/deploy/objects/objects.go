// Package objects finds the objects of rendering results by kind and by name.
package objects

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"

	kjson "sigs.k8s.io/json"
)

// Header is the kind and the name of an object.
type Header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// DefaultNamespace is the namespace of objects that name no namespace.
const DefaultNamespace = "default"

// Ref returns the reference to the object in its cluster.
func (h *Header) Ref() render.ObjectRef {
	gv, _ := schema.ParseGroupVersion(h.APIVersion)
	namespace := h.Metadata.Namespace
	if namespace == "" {
		namespace = DefaultNamespace
	}
	return render.ObjectRef{Group: gv.Group, Kind: h.Kind, Namespace: namespace, Name: h.Metadata.Name}
}

// IsIn reports whether an object is of a kind of a group.
func (h *Header) IsIn(kind schema.GroupKind) bool {
	return h.Kind == kind.Kind && strings.HasPrefix(h.APIVersion, kind.Group+"/")
}

// HeaderOf returns the header of an object.
func HeaderOf(o *render.Object) *Header {
	h := &Header{}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, h) // preadmit encoded it
	return h
}

// Held is an object and the root whose result holds it.
type Held struct {
	*Header
	Object *render.Object
	Root   render.RootID
	// Written maps the origin of the object in the result to the origin of this one, which is generated from it. It is
	// nil if the result holds this object itself.
	Written func(*origin.Origin) *origin.Origin
}

// Unknown returns the unknown fields of an object. If no unit applies the object, its variables may be substituted, so
// that fields with a variable are included if decides returns true for them.
func (o Held) Unknown(decides func(path []string) bool) []render.Unknown {
	if o.Root == (render.RootID{}) || o.Root.Object != (render.ObjectRef{}) {
		return o.Object.Unknown
	}
	return slices.Concat(o.Object.Unknown, slices.DeleteFunc(o.Object.Variables(), func(u render.Unknown) bool { return !decides(u.Path) }))
}

// NamespaceOr returns the namespace of an object. For an object without one that no unit applies, it returns other,
// because its deployer may set the namespace.
func (o Held) NamespaceOr(other string) string {
	if o.Root.Object == (render.ObjectRef{}) {
		return cmp.Or(o.Metadata.Namespace, other)
	}
	return o.Ref().Namespace
}

// Of returns the objects of a result that have a kind.
func Of(r *render.Result, kind schema.GroupKind) []Held {
	if r == nil {
		return nil
	}
	var found []Held
	for _, o := range r.Objects {
		if !bytes.Contains(o.JSON, []byte(kind.Group)) || !bytes.Contains(o.JSON, []byte(`"kind":"`+kind.Kind+`"`)) {
			continue
		}
		if h := HeaderOf(o); h.IsIn(kind) || kind.Group == "" && h.APIVersion == "v1" && h.Kind == kind.Kind {
			found = append(found, Held{Header: h, Object: o, Root: r.Root.RootID})
		}
	}
	return found
}

// Index finds objects of a result by their names.
type Index map[render.ObjectRef]Held

// IndexOf returns the index of a result. Of several objects with the same name, it has the first.
func IndexOf(r *render.Result) Index {
	ix := Index{}
	for _, o := range r.Objects {
		h := HeaderOf(o)
		if _, known := ix[h.Ref()]; !known {
			ix[h.Ref()] = Held{Header: h, Object: o, Root: r.Root.RootID}
		}
	}
	return ix
}

// File are the objects in a file. Its name is empty if it is not known.
type File struct {
	Name string
	All  []Held
}

// ByFile groups the objects of a root by their files, in the order of the objects, if some of them have one name;
// otherwise, they are one group without a name. file returns the file of an object.
func ByFile(all []Held, file func(Held) string) (files []File) {
	names := map[render.ObjectRef]bool{}
	for _, o := range all {
		names[o.Ref()] = true
	}
	if len(names) == len(all) {
		return []File{{All: all}}
	}
	at := map[string]int{}
	for _, o := range all {
		name := file(o)
		i, known := at[name]
		if !known {
			i, at[name], files = len(files), len(files), append(files, File{Name: name})
		}
		files[i].All = append(files[i].All, o)
	}
	return files
}

// MentionOf returns the mention that matches objects of a kind.
func MentionOf(kind schema.GroupKind) render.Mention {
	return render.Mention{Group: kind.Group, Kind: kind.Kind}
}

// NeedVariables reports whether an object of a result has a variable in its name or namespace. No object in a cluster
// has: the deployer of the result replaces variables.
func NeedVariables(r *render.Result) bool {
	return slices.ContainsFunc(r.Objects, func(o *render.Object) bool {
		named := HeaderOf(o).Metadata
		return strings.Contains(named.Name+named.Namespace, "${")
	})
}
