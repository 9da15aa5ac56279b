// Package etcd has the changes to objects that are written to etcd and read again, and their sizes
// there.
package etcd

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/custom"
)

// Kind is a kind of objects.
type Kind struct {
	schema.GroupVersionKind
	// Custom is set if a CustomResourceDefinition defines the kind.
	Custom bool
}

// Reread returns an object as it is read from etcd: encoded in the version of highest priority as
// protobuf, which has no empty lists and maps, and defaulted again. Only the main API server uses
// protobuf; stored as JSON, only the metadata loses them.
func (k Kind) Reread(obj runtime.Object) (runtime.Object, error) {
	storage := k.protobuf()
	if storage == nil {
		return custom.Reread(obj), nil
	}
	data, err := runtime.Encode(storage, obj)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", k.Kind, err)
	}
	if obj, err = runtime.Decode(storage, data); err != nil {
		return nil, fmt.Errorf("read stored %s: %w", k.Kind, err)
	}
	return obj, nil
}

// codecs has the codecs of protobuf by schema.GroupKind.
var codecs sync.Map

// protobuf returns the codec of objects in etcd; nil for kinds that are stored as JSON.
func (k Kind) protobuf() runtime.Codec {
	codec := builtin.Core()
	if k.Custom || builtin.CodecOf(k.Group) != codec {
		return nil
	}
	if known, ok := codecs.Load(k.GroupKind()); ok {
		return known.(runtime.Codec)
	}
	versions := codec.Scheme.VersionsForGroupKind(k.GroupKind())
	if len(versions) == 0 {
		return nil
	}
	serializer := protobuf.NewSerializer(codec.Scheme, codec.Scheme)
	made := codec.Codecs.CodecForVersions(serializer, serializer, versions[0], runtime.InternalGroupVersioner)
	codecs.Store(k.GroupKind(), made)
	return made
}

// Size returns the size of an object with managed fields in etcd, in bytes.
func (k Kind) Size(obj runtime.Object, managed []metav1.ManagedFieldsEntry, interfaces admission.ObjectInterfaces) (int, error) {
	obj = obj.DeepCopyObject()
	m, err := meta.Accessor(obj)
	if err != nil {
		return 0, fmt.Errorf("%s has no metadata: %w", k.Kind, err)
	}
	m.SetManagedFields(managed)
	if storage := k.protobuf(); storage != nil {
		data, err := runtime.Encode(storage, obj)
		return len(data), err
	}
	if !k.Custom {
		if obj, err = admission.ConvertToGVK(obj, k.GroupVersionKind, interfaces); err != nil {
			return 0, err
		}
	}
	data, err := json.Marshal(obj)
	return len(data), err
}
