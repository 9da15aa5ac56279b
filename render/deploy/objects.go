package deploy

import (
	"bytes"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"

	kjson "sigs.k8s.io/json"
)

// header is what an object is called.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// defaultNamespace is where objects are that do not say.
const defaultNamespace = "default"

// ref returns the name of an object in its cluster.
func (h *header) ref() render.ObjectRef {
	gv, _ := schema.ParseGroupVersion(h.APIVersion)
	namespace := h.Metadata.Namespace
	if namespace == "" {
		namespace = defaultNamespace
	}
	return render.ObjectRef{Group: gv.Group, Kind: h.Kind, Namespace: namespace, Name: h.Metadata.Name}
}

// isIn reports whether an object is of a kind of a group.
func (h *header) isIn(kind schema.GroupKind) bool {
	return h.Kind == kind.Kind && strings.HasPrefix(h.APIVersion, kind.Group+"/")
}

// headerOf decodes what an object is called.
func headerOf(o *render.Object) *header {
	h := &header{}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, h) // it was encoded here
	return h
}

// held is an object with the result that holds it.
type held struct {
	*header
	object *render.Object
	root   render.RootID
	// written returns where the object was written, going by that of the object that it is made of, which the
	// result holds. It is nil where the result holds the object itself.
	written func(*origin.Origin) *origin.Origin
}

// holds returns the objects of a result that are of a kind.
func holds(r *render.Result, kind schema.GroupKind) []held {
	if r == nil {
		return nil
	}
	var found []held
	for _, o := range r.Objects {
		if !bytes.Contains(o.JSON, []byte(kind.Group)) || !bytes.Contains(o.JSON, []byte(`"kind":"`+kind.Kind+`"`)) {
			continue
		}
		if h := headerOf(o); h.isIn(kind) || kind.Group == "" && h.APIVersion == "v1" && h.Kind == kind.Kind {
			found = append(found, held{header: h, object: o, root: r.Root.RootID})
		}
	}
	return found
}

// index finds objects of a result by what they are called.
type index map[render.ObjectRef]held

func indexOf(r *render.Result) index {
	ix := index{}
	for _, o := range r.Objects {
		h := headerOf(o)
		if _, known := ix[h.ref()]; !known {
			ix[h.ref()] = held{header: h, object: o, root: r.Root.RootID}
		}
	}
	return ix
}
