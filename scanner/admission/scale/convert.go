package scale

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
)

// Typed returns a Scale in the form that admission uses for a custom resource: in its version.
func Typed(s *autoscaling.Scale) runtime.Object {
	return &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{APIVersion: Kind.GroupVersion().String(), Kind: Kind.Kind}, ObjectMeta: s.ObjectMeta,
		Spec:   autoscalingv1.ScaleSpec{Replicas: s.Spec.Replicas},
		Status: autoscalingv1.ScaleStatus{Replicas: s.Status.Replicas, Selector: s.Status.Selector},
	}
}

// OfCustom returns the admission interfaces for the Scale of a custom resource: those of the resource, which
// create untyped objects and cannot convert a Scale that a policy created
// (k8s.io/apiextensions-apiserver/pkg/apiserver, scaleScopes).
func OfCustom(o admission.ObjectInterfaces) admission.ObjectInterfaces { return customScales{o} }

type customScales struct{ admission.ObjectInterfaces }

// GetObjectCreater implements admission.ObjectInterfaces.
func (c customScales) GetObjectCreater() runtime.ObjectCreater { return untyped{} }

// GetObjectConvertor implements admission.ObjectInterfaces.
func (c customScales) GetObjectConvertor() runtime.ObjectConvertor {
	return typedOnly{c.ObjectInterfaces.GetObjectConvertor()}
}

// untyped creates objects without types.
type untyped struct{}

// New implements runtime.ObjectCreater.
func (untyped) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}

// typedOnly only converts typed Scales.
type typedOnly struct{ runtime.ObjectConvertor }

// ConvertToVersion implements runtime.ObjectConvertor.
func (t typedOnly) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	if _, ok := in.(*autoscalingv1.Scale); !ok {
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", in.GetObjectKind().GroupVersionKind().GroupVersion())
	}
	return t.ObjectConvertor.ConvertToVersion(in, target)
}
