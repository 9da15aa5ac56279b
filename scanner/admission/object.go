package admission

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
	"github.com/preadmit/preadmit/scanner/admission/custom"
)

// Object is an object of a cluster's state. It never changes.
type Object struct {
	// Tag is the caller's, such as the object's origin. It is not interpreted here.
	Tag any
	// Unknown are the unknown fields. It must be set before the object is used.
	Unknown []render.Unknown

	head head
	// text is nil for an object made of content. A state has thousands of objects; most are decoded
	// once, by the API server's own decoder, and as text they take a tenth of the memory.
	text    []byte
	decoded sync.Once
	content map[string]any
	// outlined and spec cache the parts of a CustomResourceDefinition that look-ups read.
	outlined sync.Once
	spec     map[string]any
}

// head has the fields by which an object is found. Fields of another type than the API's count as
// absent.
type head struct {
	apiVersion, kind              string
	name, generateName, namespace string
	labels                        map[string]string
}

// NewObject returns an object of content as decoded from JSON (int64, float64, string, bool, nil,
// map[string]any, []any), which must not be modified afterwards.
func NewObject(content map[string]any) *Object {
	metadata, _ := content["metadata"].(map[string]any)
	return &Object{content: content, head: newHead(content["apiVersion"], content["kind"], metadata)}
}

// ParseObject returns an object of its JSON text, whose keys are sorted. Mistakes in the text are reported
// when the object is decoded.
func ParseObject(text []byte) *Object {
	if apiVersion, kind, rest, ok := tree.Head(text); ok {
		if rest, ok = bytes.CutPrefix(rest, []byte(`,"metadata":`)); ok {
			var metadata map[string]any
			_ = json.Unmarshal(tree.FirstObject(rest), &metadata)
			return &Object{text: text, head: newHead(string(apiVersion), string(kind), metadata)}
		}
	}
	var top struct {
		APIVersion any             `json:"apiVersion"`
		Kind       any             `json:"kind"`
		Metadata   json.RawMessage `json:"metadata"`
	}
	_ = sigsjson.UnmarshalCaseSensitivePreserveInts(text, &top)
	var metadata struct {
		Name         any `json:"name"`
		GenerateName any `json:"generateName"`
		Namespace    any `json:"namespace"`
		Labels       any `json:"labels"`
	}
	_ = sigsjson.UnmarshalCaseSensitivePreserveInts(top.Metadata, &metadata)
	return &Object{text: text, head: newHead(top.APIVersion, top.Kind, map[string]any{
		"name": metadata.Name, "generateName": metadata.GenerateName, "namespace": metadata.Namespace, "labels": metadata.Labels,
	})}
}

func newHead(apiVersion, kind any, metadata map[string]any) head {
	h := head{
		apiVersion: str(apiVersion), kind: str(kind),
		name: str(metadata["name"]), generateName: str(metadata["generateName"]), namespace: str(metadata["namespace"]),
	}
	if m, ok := metadata["labels"].(map[string]any); ok {
		h.labels = make(map[string]string, len(m))
		for k, v := range m {
			if s, ok := v.(string); ok {
				h.labels[k] = s
			}
		}
	}
	return h
}

func str(value any) string { s, _ := value.(string); return s }

// Content returns the object as decoded from JSON. It must not be modified.
func (o *Object) Content() map[string]any {
	o.decoded.Do(func() {
		if o.text != nil {
			_ = utiljson.Unmarshal(o.text, &o.content)
		}
	})
	return o.content
}

// passingContent returns Content without keeping it, for callers that need it once: the decoded objects of a
// large change would take several times the memory of their text. It must not be modified.
func (o *Object) passingContent() map[string]any {
	if o.text == nil {
		return o.content
	}
	var content map[string]any
	_ = utiljson.Unmarshal(o.text, &content)
	return content
}

// outline returns the spec of a CustomResourceDefinition, without schemas if the object has text. It must not
// be modified.
func (o *Object) outline() map[string]any {
	o.outlined.Do(func() {
		if o.text != nil {
			o.spec = custom.Outline(o.text)
		} else {
			o.spec, _ = o.content["spec"].(map[string]any)
		}
	})
	return o.spec
}

// Defined returns the kind that a CustomResourceDefinition defines.
func (o *Object) Defined() schema.GroupKind { return custom.Defined(o.outline()) }

// Equal reports whether two objects have the same content and the same unknown fields.
func (o *Object) Equal(other *Object) bool {
	if !slices.EqualFunc(o.Unknown, other.Unknown, func(a, b render.Unknown) bool { return slices.Equal(a.Path, b.Path) }) {
		return false
	}
	a, err := o.JSON()
	b, otherErr := other.JSON()
	return err == nil && otherErr == nil && bytes.Equal(a, b)
}

// JSON returns the object's JSON text with sorted keys. It must not be modified.
func (o *Object) JSON() ([]byte, error) {
	if o.text != nil {
		return o.text, nil
	}
	return json.Marshal(o.content)
}

// Key identifies an object in a cluster. Objects of two versions of one group are the same object.
type Key struct {
	Group, Kind, Namespace, Name string
}

// GroupVersionKind returns the object's apiVersion and kind.
func (o *Object) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(o.head.apiVersion, o.head.kind)
}

// Name returns metadata.name.
func (o *Object) Name() string { return o.head.name }

// GenerateName returns metadata.generateName.
func (o *Object) GenerateName() string { return o.head.generateName }

// Namespace returns metadata.namespace as written; Cluster.Key has the namespace in which the object
// is created.
func (o *Object) Namespace() string { return o.head.namespace }

// Labels returns metadata.labels without values that are not strings. They must not be modified.
func (o *Object) Labels() map[string]string { return o.head.labels }

func (k Key) String() string {
	parts := []string{k.Kind}
	if k.Group != "" {
		parts[0] += "." + k.Group
	}
	if k.Namespace != "" {
		parts = append(parts, k.Namespace)
	}
	return strings.Join(append(parts, k.Name), "/")
}
