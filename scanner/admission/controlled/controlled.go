// Package controlled has the fields of stored objects that controllers have written since a tool
// applied the object.
package controlled

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/apps"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Manager is the field manager of fields that controllers write.
const Manager = "kube-controller-manager"

// Fields are fields of a stored object that controllers have written.
type Fields struct {
	// Write sets the fields. It must not keep a reference to the object.
	Write func(runtime.Object)
	// Unknown are the fields whose values only the cluster knows. Write sets them to values that Kept
	// recognizes.
	Unknown []render.Unknown
	// Kept reports whether an object still has the values that Write set.
	Kept func(runtime.Object) bool
	// Agreeing are the same fields with the values that are applied now in place of unknown ones; nil
	// when none are applied.
	Agreeing *Fields
}

// unknownVolume is written in place of the unknown name of a volume.
const unknownVolume = "unknown"

// Bound returns the fields of a PersistentVolumeClaim that is bound to its volume, as all claims in
// use are, with the requested size. stored is the claim as it was applied, applied as it is applied
// now.
func Bound(stored, applied map[string]any) *Fields {
	written, _, _ := unstructured.NestedString(stored, "spec", "volumeName")
	if written != "" {
		return bound(written)
	}
	f := bound(unknownVolume)
	f.Unknown = []render.Unknown{{Path: []string{"spec", "volumeName"}, Reason: "the cluster binds the claim to a volume"}}
	f.Kept = func(obj runtime.Object) bool {
		claim, ok := obj.(*api.PersistentVolumeClaim)
		return ok && claim.Spec.VolumeName == unknownVolume
	}
	if name, _, _ := unstructured.NestedString(applied, "spec", "volumeName"); name != "" {
		f.Agreeing = bound(name)
	}
	return f
}

// bound returns the fields of a claim that is bound to a volume, unless it names another one itself.
func bound(volume string) *Fields {
	return &Fields{Write: func(obj runtime.Object) {
		claim := obj.(*api.PersistentVolumeClaim)
		if claim.Spec.VolumeName == "" {
			claim.Spec.VolumeName = volume
		}
		claim.Status.Phase = api.ClaimBound
		claim.Status.AccessModes = slices.Clone(claim.Spec.AccessModes)
		claim.Status.Capacity = api.ResourceList{}
		if size, ok := claim.Spec.Resources.Requests[api.ResourceStorage]; ok {
			claim.Status.Capacity[api.ResourceStorage] = size.DeepCopy()
		}
	}}
}

// Status returns the status of the objects of a kind as an unknown field. It is nil for kinds for which the
// relevant parts of the status are known: a bound claim, an established definition.
func Status(kind schema.GroupKind) *render.Unknown {
	if kind == (schema.GroupKind{Kind: "PersistentVolumeClaim"}) || kind == kinds.Namespace || kind == kinds.Definition {
		return nil
	}
	return &render.Unknown{Path: []string{"status"}, Reason: "the controllers of the cluster write it"}
}

// unknownReplicas is written in place of an unknown number of replicas.
const unknownReplicas = 1_000_003

// Scaled returns the fields of a workload whose replicas a HorizontalPodAutoscaler sets. applied is
// the workload as it is applied now.
func Scaled(scaler string, applied map[string]any) *Fields {
	f := &Fields{
		Write: func(obj runtime.Object) { *replicasOf(obj) = unknownReplicas },
		Unknown: []render.Unknown{{
			Path: []string{"spec", "replicas"}, Reason: fmt.Sprintf("HorizontalPodAutoscaler %s sets it", scaler),
		}},
		Kept: func(obj runtime.Object) bool {
			replicas := replicasOf(obj)
			return replicas != nil && *replicas == unknownReplicas
		},
	}
	if n, ok, _ := unstructured.NestedInt64(applied, "spec", "replicas"); ok {
		f.Agreeing = &Fields{Write: func(obj runtime.Object) { *replicasOf(obj) = int32(n) }}
	}
	return f
}

func replicasOf(obj runtime.Object) *int32 {
	switch workload := obj.(type) {
	case *apps.Deployment:
		return &workload.Spec.Replicas
	case *apps.StatefulSet:
		return &workload.Spec.Replicas
	case *apps.ReplicaSet:
		return &workload.Spec.Replicas
	case *api.ReplicationController:
		if workload.Spec.Replicas == nil {
			workload.Spec.Replicas = new(int32)
		}
		return workload.Spec.Replicas
	}
	return nil
}
