package builtin

import (
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/admission/decoded"
)

// shared are the objects that other processes of this program have decoded; nil for none.
var shared atomic.Pointer[decoded.Objects]

// Share makes Decode use and add decoded objects. What JSON is decoded to depends on the program only, not on the
// release that a process imitates, so all scans of the process share them.
func Share(objects *decoded.Objects) { shared.Store(objects) }

// sharing decodes JSON strictly, or the object that another process has decoded, which takes a quarter of the
// time. An API server stores objects in the same encoding.
type sharing struct {
	runtime.Serializer // strict JSON
	creater            runtime.ObjectCreater
}

// Decode implements runtime.Decoder. It is used with a kind, and into an internal version.
func (s sharing) Decode(data []byte, kind *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	objects := shared.Load()
	if objects == nil || kind == nil {
		return s.Serializer.Decode(data, kind, into)
	}
	key := decoded.KeyOf(kind.String(), data)
	if encoded, ok := objects.Find(key); ok {
		if obj := s.decode(encoded, *kind); obj != nil {
			return obj, new(*kind), nil
		}
	}
	obj, actual, err := s.Serializer.Decode(data, kind, into)
	if err != nil || *actual != *kind {
		return obj, actual, err
	}
	if encoded := s.encode(obj, *kind); encoded != nil {
		objects.Add(key, encoded)
	}
	return obj, actual, nil
}

// decode returns the object of an encoding, nil if there is none.
func (s sharing) decode(encoded []byte, kind schema.GroupVersionKind) runtime.Object {
	obj, err := s.creater.New(kind)
	if err != nil {
		return nil
	}
	m, ok := obj.(message)
	if !ok || m.Unmarshal(encoded) != nil {
		return nil
	}
	m.GetObjectKind().SetGroupVersionKind(kind)
	return m
}

// encode returns the encoding of an object that was decoded from JSON, nil if it does not keep all of it.
func (s sharing) encode(obj runtime.Object, kind schema.GroupVersionKind) []byte {
	m, ok := obj.DeepCopyObject().(message)
	if !ok {
		return nil
	}
	meta, ok := m.GetObjectKind().(*metav1.TypeMeta)
	if version, name := kind.ToAPIVersionAndKind(); !ok || *meta != (metav1.TypeMeta{APIVersion: version, Kind: name}) {
		return nil
	}
	*meta = metav1.TypeMeta{}
	if !keepsAll(m) {
		return nil
	}
	encoded, err := m.Marshal()
	if err != nil {
		return nil
	}
	return encoded
}
