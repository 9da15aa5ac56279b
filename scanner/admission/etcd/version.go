package etcd

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"

	"github.com/preadmit/preadmit/scanner/admission/refusal"
)

// ErrOtherVersion is the error for an update of another version of an object than the stored one.
var ErrOtherVersion = errors.New(registry.OptimisticLockErrorMsg)

// Versioned sets the resourceVersion of an object to that of old, the stored object, which is nil for a new
// object. It returns the error about the version that the object had, or ErrOtherVersion. unconditional is
// set if an update needs no version (k8s.io/apiserver/pkg/registry/generic/registry, Store.Update).
func Versioned(obj, old runtime.Object, resource schema.GroupResource, name string, unconditional bool) error {
	versioner := storage.APIObjectVersioner{}
	sent, err := versioner.ObjectResourceVersion(obj)
	malformed := err
	if old == nil {
		old = obj
	}
	was, err := versioner.ObjectResourceVersion(old)
	if err == nil {
		err = versioner.UpdateObject(obj, was)
	}
	switch {
	case malformed != nil:
		return refusal.Internal(malformed)
	case err != nil:
		return fmt.Errorf("version of the stored object: %w", err)
	case sent == was || sent == 0 && unconditional:
		return nil
	case sent == 0:
		required := field.Invalid(field.NewPath("metadata", "resourceVersion"), sent, "must be specified for an update")
		return apierrors.NewInvalid(schema.GroupKind{Group: resource.Group, Kind: resource.Resource}, name, field.ErrorList{required})
	}
	return ErrOtherVersion
}
