package admission

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/apps"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/preadmit/preadmit/render"
)

// controllerManager is the field manager of what controllers write.
const controllerManager = "kube-controller-manager"

// controlledFields are fields of a stored object that controllers have written since a tool
// applied it.
type controlledFields struct {
	// write sets them. It must not keep what it is given.
	write func(runtime.Object)
	// unknown are those whose values only the cluster knows. write gives them values that
	// kept recognizes.
	unknown []render.Unknown
	// kept reports whether an object still has the values that write gave.
	kept func(runtime.Object) bool
}

// controlledFieldsOf returns what controllers have written to a stored object that a tool
// applied; nil where nothing says that they did.
func (c *Cluster) controlledFieldsOf(o *Object) *controlledFields {
	switch kind := o.GroupVersionKind().GroupKind(); kind {
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}:
		return bound(o)
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
		schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, schema.GroupKind{Kind: "ReplicationController"}:
		if scaler := c.scalerOf(o); scaler != nil {
			return scaled(scaler)
		}
	}
	return nil
}

// unknownVolume is written in place of the name of a volume that is not known.
const unknownVolume = "unknown"

// bound is a PersistentVolumeClaim that has its volume, as all claims in use have, of the size
// that was asked for.
func bound(o *Object) *controlledFields {
	f := &controlledFields{write: func(obj runtime.Object) {
		claim := obj.(*api.PersistentVolumeClaim)
		if claim.Spec.VolumeName == "" {
			claim.Spec.VolumeName = unknownVolume
		}
		claim.Status.Phase = api.ClaimBound
		claim.Status.AccessModes = slices.Clone(claim.Spec.AccessModes)
		claim.Status.Capacity = api.ResourceList{}
		if size, ok := claim.Spec.Resources.Requests[api.ResourceStorage]; ok {
			claim.Status.Capacity[api.ResourceStorage] = size.DeepCopy()
		}
	}}
	if name, _, _ := unstructured.NestedString(o.Content(), "spec", "volumeName"); name == "" {
		f.unknown = []render.Unknown{{Path: []string{"spec", "volumeName"}, Reason: "the cluster binds the claim to a volume"}}
		f.kept = func(obj runtime.Object) bool {
			claim, ok := obj.(*api.PersistentVolumeClaim)
			return ok && claim.Spec.VolumeName == unknownVolume
		}
	}
	return f
}

// unknownReplicas is written in place of a number of replicas that is not known.
const unknownReplicas = 1_000_003

// scaled is a workload whose number of Pods a HorizontalPodAutoscaler sets.
func scaled(by *Object) *controlledFields {
	replicasOf := func(obj runtime.Object) *int32 {
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
	return &controlledFields{
		write: func(obj runtime.Object) { *replicasOf(obj) = unknownReplicas },
		unknown: []render.Unknown{{
			Path: []string{"spec", "replicas"}, Reason: fmt.Sprintf("HorizontalPodAutoscaler %s sets it", by.Name()),
		}},
		kept: func(obj runtime.Object) bool {
			replicas := replicasOf(obj)
			return replicas != nil && *replicas == unknownReplicas
		},
	}
}

// scalerOf returns the HorizontalPodAutoscaler of the state that scales a workload, nil for none.
func (c *Cluster) scalerOf(o *Object) *Object {
	kind := o.GroupVersionKind()
	for _, scaler := range c.list(schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}) {
		target, _, _ := unstructured.NestedMap(scaler.Content(), "spec", "scaleTargetRef")
		version, _ := target["apiVersion"].(string)
		group, err := schema.ParseGroupVersion(version)
		if err == nil && group.Group == kind.Group && target["kind"] == kind.Kind && target["name"] == o.Name() && c.namespace(scaler) == c.namespace(o) {
			return scaler
		}
	}
	return nil
}

// controlled returns a stored object with what controllers have written to it.
func (p *preparation) controlled(obj runtime.Object) (runtime.Object, error) {
	if p.ask.controls == nil {
		return obj, nil
	}
	written := obj.DeepCopyObject()
	p.ask.controls.write(written)
	m, err := meta.Accessor(obj)
	if err != nil || len(m.GetManagedFields()) == 0 {
		return written, err
	}
	fields, err := p.handler.fields()
	if err != nil {
		return nil, err
	}
	return fields.Update(obj, written, controllerManager)
}

// noteControlled adds to a request which of its fields only the cluster knows.
func (c *Cluster) noteControlled(r *Request, controls *controlledFields) (err error) {
	if controls == nil || len(controls.unknown) == 0 {
		return nil
	}
	if r.standIns == nil {
		if r.standIns, err = c.standIns(r.GetKind()); err != nil {
			return err
		}
	}
	r.unknownOld = slices.Concat(r.unknownOld, controls.unknown)
	if controls.kept(r.GetObject()) {
		r.unknown = slices.Concat(r.unknown, controls.unknown)
	}
	return nil
}
