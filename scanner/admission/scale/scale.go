// Package scale returns Scales of workloads and sets the replicas of a Scale, like the scale
// subresource (ScaleREST of k8s.io/kubernetes/pkg/registry/apps and of
// k8s.io/apiextensions-apiserver/pkg/registry/customresource).
package scale

import (
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	api "k8s.io/kubernetes/pkg/apis/core"
)

// Kind is the kind of objects sent to the scale subresource, and of those that admission sees.
var Kind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// Paths are the paths in a custom resource of its replicas, its current replicas, and its optional
// selector. Built-in workloads have none.
type Paths struct{ Replicas, Status, Selector []string }

// PathsOf returns the paths that the definition of a custom resource names.
func PathsOf(s *apiextensions.CustomResourceSubresourceScale) Paths {
	p := Paths{Replicas: jsonPath(s.SpecReplicasPath), Status: jsonPath(s.StatusReplicasPath)}
	if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
		p.Selector = jsonPath(*s.LabelSelectorPath)
	}
	return p
}

func jsonPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// Set sets the replicas of a workload.
func Set(workload runtime.Object, replicas int32, paths Paths) error {
	switch w := workload.(type) {
	case *apps.Deployment:
		w.Spec.Replicas = replicas
	case *apps.ReplicaSet:
		w.Spec.Replicas = replicas
	case *apps.StatefulSet:
		w.Spec.Replicas = replicas
	case *api.ReplicationController:
		w.Spec.Replicas = &replicas
	case *unstructured.Unstructured:
		if err := unstructured.SetNestedField(w.Object, int64(replicas), paths.Replicas...); err != nil {
			return apierrors.NewInternalError(err)
		}
	default:
		return fmt.Errorf("%T cannot be scaled", workload)
	}
	return nil
}

// Of returns the Scale of a workload.
func Of(workload runtime.Object, paths Paths) (*autoscaling.Scale, error) {
	switch w := workload.(type) {
	case *apps.Deployment:
		return newScale(w, w.Spec.Replicas, w.Status.Replicas, w.Spec.Selector)
	case *apps.ReplicaSet:
		return newScale(w, w.Spec.Replicas, w.Status.Replicas, w.Spec.Selector)
	case *apps.StatefulSet:
		return newScale(w, w.Spec.Replicas, w.Status.Replicas, w.Spec.Selector)
	case *api.ReplicationController:
		scale, err := newScale(w, *w.Spec.Replicas, w.Status.Replicas, nil)
		scale.Status.Selector = labels.SelectorFromSet(w.Spec.Selector).String()
		return scale, err
	case *unstructured.Unstructured:
		return custom(w, paths)
	}
	return nil, fmt.Errorf("%T has no scale", workload)
}

func newScale(m metav1.Object, replicas, current int32, selector *metav1.LabelSelector) (*autoscaling.Scale, error) {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return &autoscaling.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: m.GetName(), Namespace: m.GetNamespace(), UID: m.GetUID(),
			ResourceVersion: m.GetResourceVersion(), CreationTimestamp: m.GetCreationTimestamp(),
		},
		Spec:   autoscaling.ScaleSpec{Replicas: replicas},
		Status: autoscaling.ScaleStatus{Replicas: current, Selector: s.String()},
	}, nil
}

// custom returns the Scale of a custom resource.
func custom(u *unstructured.Unstructured, paths Paths) (*autoscaling.Scale, error) {
	replicas, _, err := unstructured.NestedInt64(u.Object, paths.Replicas...)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	current, _, err := unstructured.NestedInt64(u.Object, paths.Status...)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	scale, err := newScale(u, int32(replicas), int32(current), nil)
	if err != nil {
		return nil, err
	}
	scale.Status.Selector = ""
	if paths.Selector != nil {
		scale.Status.Selector, _, err = unstructured.NestedString(u.Object, paths.Selector...)
	}
	return scale, err
}
