package names

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	api "k8s.io/kubernetes/pkg/apis/core"
)

// Times replaces the times that the preparation of an object takes from the clock.
func Times(obj runtime.Object, at metav1.Time) {
	switch o := obj.(type) {
	case *api.Pod:
		for i := range o.Status.Conditions {
			o.Status.Conditions[i].LastTransitionTime = at
		}
	case *api.PersistentVolume:
		if o.Status.LastPhaseTransitionTime != nil {
			o.Status.LastPhaseTransitionTime = &at
		}
	}
}
