package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/controlled"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
)

// controlledFieldsOf returns the fields that controllers have written to the stored object of a client request,
// which a tool applied; nil if there are none, or if the stored object is read from a cluster.
func (c *Cluster) controlledFieldsOf(in ClientRequest) *controlled.Fields {
	o := in.OldObject
	applied := func() map[string]any {
		if in.Object == nil {
			return nil
		}
		return in.Object.passingContent()
	}
	switch kind := o.GroupVersionKind().GroupKind(); kind {
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}:
		stored := o.passingContent()
		if phase, _, _ := unstructured.NestedString(stored, "status", "phase"); in.Live && phase != "" {
			return nil
		}
		return controlled.Bound(stored, applied())
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
		schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, schema.GroupKind{Kind: "ReplicationController"}:
		if scaler := c.scalerOf(o); scaler != nil && !in.Live {
			return controlled.Scaled(scaler.Name(), applied())
		}
	}
	return nil
}

// prepareControlled prepares a client request whose old object controllers have written to. If the server
// refuses it because of a value that only the cluster knows, and does not if that value equals the
// applied one, the result is unknown.
func (c *Cluster) prepareControlled(ctx context.Context, in ClientRequest) (req *Request, warned []string, err error) {
	req, warned, err = c.prepareFilled(ctx, in)
	var refusal *apierrors.StatusError
	fields := in.controls
	if fields == nil || fields.Agreeing == nil || !errors.As(err, &refusal) {
		return req, warned, err
	}
	in.controls = fields.Agreeing
	if _, _, agreeing := c.prepareFilled(ctx, in); fmt.Sprint(agreeing) != fmt.Sprint(err) {
		err = &unknown.Error{What: "whether the server takes the object", Fields: fields.Unknown}
	}
	return nil, warned, err
}

// scalerOf returns the HorizontalPodAutoscaler of the state that scales a workload, nil if there is
// none.
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

// controlled returns a stored object with the fields that controllers have written.
func (p *preparation) controlled(obj runtime.Object) (runtime.Object, error) {
	if p.client.controls == nil {
		return obj, nil
	}
	written := obj.DeepCopyObject()
	p.client.controls.Write(written)
	m, err := meta.Accessor(obj)
	if err != nil || len(m.GetManagedFields()) == 0 {
		return written, err
	}
	fields, err := p.handler.fields()
	if err != nil {
		return nil, err
	}
	return fields.Update(obj, written, controlled.Manager)
}

// OpenStatus returns the status of the objects of an update or a deletion as an unknown field; nil if it is
// known. Only policies that read the status need it.
func (r *Request) OpenStatus() *render.Unknown {
	served, _ := r.cluster.Resource(r.GetKind())
	_, has := served.Subresources["status"]
	if in := &r.client; !has || in.Applier == "" || in.OldObject == nil || r.GetOperation() == admission.Create || in.Live && in.OldObject.Content()["status"] != nil {
		return nil
	}
	return controlled.Status(served.Kind.GroupKind())
}

// noteControlled adds the fields that only the cluster knows to the unknown fields of a request.
func (c *Cluster) noteControlled(r *Request, controls *controlled.Fields) (err error) {
	if controls == nil || len(controls.Unknown) == 0 {
		return nil
	}
	if r.standIns == nil {
		if r.standIns, err = c.standIns(r.GetKind()); err != nil {
			return err
		}
	}
	r.unknownOld = slices.Concat(r.unknownOld, controls.Unknown)
	if controls.Kept(r.GetObject()) {
		r.unknown = slices.Concat(r.unknown, controls.Unknown)
	}
	return nil
}
