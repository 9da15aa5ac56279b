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

// Manager is the field manager of what controllers write.
const Manager = "kube-controller-manager"

// Fields are fields of a stored object that controllers have written.
type Fields struct {
	// Write sets them. It must not keep what it is given.
	Write func(runtime.Object)
	// Unknown are those whose values only the cluster knows. Write sets them to values that
	// Kept recognizes.
	Unknown []render.Unknown
	// Kept reports whether an object still has the values that Write gave.
	Kept func(runtime.Object) bool
	// Agreeing are the same fields with the values that are applied now in place of those that
	// only the cluster knows; nil when none are applied.
	Agreeing *Fields
}

// unknownVolume is written in place of the name of a volume that is not known.
const unknownVolume = "unknown"

// Bound are those of a PersistentVolumeClaim that has its volume, as all claims in use have, of the
// size that was asked for. stored and applied are the claim as it was applied and is now.
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

// bound is a claim that has the volume of a name, unless it names one itself.
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

// Status returns the status of the objects of a kind as unknown. It is nil for kinds whose status is
// known that decides what a server takes: a bound claim, an established definition.
func Status(kind schema.GroupKind) *render.Unknown {
	if kind == (schema.GroupKind{Kind: "PersistentVolumeClaim"}) || kind == kinds.Namespace || kind == kinds.Definition {
		return nil
	}
	return &render.Unknown{Path: []string{"status"}, Reason: "the controllers of the cluster write it"}
}

// unknownReplicas is written in place of a number of replicas that is not known.
const unknownReplicas = 1_000_003

// Scaled are those of a workload whose number of Pods a HorizontalPodAutoscaler sets. applied is
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
