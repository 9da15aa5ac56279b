package admission

import (
	"context"
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/scale"
)

// addressed returns the object that the request path names: for an update of a Scale, the workload.
func (a ClientRequest) addressed() *Object {
	if a.Subresource == "scale" && a.OldObject != nil {
		return a.OldObject
	}
	return a.Main()
}

// scale prepares an update of the scale subresource. The server turns the Scale into an update of the
// workload, and passes the Scales of the workload before and after to admission.
func (p *preparation) scale(ctx context.Context) (*Request, error) {
	if _, ok := p.handler.resource.Subresources["scale"]; !ok || p.client.Operation != admission.Update {
		return nil, fmt.Errorf("%s of %s/scale is not supported", p.client.Operation, p.handler.resource.Resource)
	}
	stored, err := p.stored()
	if err != nil {
		return nil, err
	}
	sent, err := p.sentScale(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.sameUID(sent, stored); err != nil {
		return nil, err
	}
	version := p.sentVersion(sent, stored)
	options := &metav1.UpdateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}}
	if p.client.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	var before, after *autoscaling.Scale
	paths := p.scalePaths()
	if before, err = scale.Of(stored, paths); err != nil {
		return nil, err
	}
	interfaces := objectInterfaces{
		ObjectInterfaces: admission.NewObjectInterfacesFromScheme(builtin.Core().Scheme),
		mapper:           p.cluster.mapper(),
	}
	seen := func(s *autoscaling.Scale) runtime.Object { return s }
	if p.handler.resource.Custom {
		interfaces.ObjectInterfaces, seen = scale.OfCustom(interfaces.ObjectInterfaces), scale.Typed
	}
	if err := p.mutateScale(ctx, admission.NewAttributesRecord(seen(sent), seen(before), scale.Kind, p.namespace, p.name,
		p.handler.resource.GroupVersionResource, "scale", admission.Update, options, p.client.DryRun, p.client.User), interfaces); err != nil {
		return nil, err
	}
	if errs := autoscalingvalidation.ValidateScale(sent); len(errs) > 0 && !p.handler.resource.Custom {
		return nil, apierrors.NewInvalid(autoscaling.Kind("Scale"), p.name, errs)
	}
	if err := p.versioned(sent, stored, sent.ResourceVersion != version); err != nil {
		return nil, err
	}
	workload := stored.DeepCopyObject()
	if err := scale.Set(workload, sent.Spec.Replicas, paths); err != nil {
		return nil, err
	}
	if err := rest.BeforeUpdate(p.handler.Update, ctx, workload, stored); err != nil {
		return nil, err
	}
	if after, err = scale.Of(workload, paths); err != nil {
		return nil, err
	}
	a := admission.NewAttributesRecord(seen(after), seen(before), scale.Kind, p.namespace, p.name,
		p.handler.resource.GroupVersionResource, "scale", admission.Update, options, p.client.DryRun, p.client.User)
	return newRequest(p.cluster, a, interfaces), nil
}

// mutateScale runs the mutating policies on the Scale.
func (p *preparation) mutateScale(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if p.client.Mutator == nil {
		return nil
	}
	for range 2 {
		if err := p.client.Mutator.Mutate(ctx, newRequest(p.cluster, a, o)); err != nil || !a.GetReinvocationContext().ShouldReinvoke() {
			return err
		}
		a.GetReinvocationContext().SetIsReinvoke()
	}
	return nil
}

// sentScale decodes the Scale of the body.
func (p *preparation) sentScale(ctx context.Context) (*autoscaling.Scale, error) {
	obj, unknown, err := decodeBuiltin(scale.Kind, p.client.Object)
	if err != nil && p.handler.resource.Custom {
		// The server of custom resources does not recognize Scale when it writes this error.
		return nil, apierrors.NewBadRequest(runtime.NewNotRegisteredErrForType("pkg/runtime/scheme.go:111", reflect.TypeFor[autoscalingv1.Scale]()).Error())
	}
	if err != nil {
		return nil, err
	}
	for _, w := range unknown {
		warning.AddWarning(ctx, "", w)
	}
	sent, ok := obj.(*autoscaling.Scale)
	if !ok {
		return nil, fmt.Errorf("unexpected type %T of a Scale", obj)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(p.objectNamespace(), sent); err != nil {
		return nil, err
	}
	if err := p.names(sent.Name); err != nil {
		return nil, err
	}
	return sent, nil
}

// scalePaths returns the paths in a custom resource of the values of its Scale.
func (p *preparation) scalePaths() scale.Paths {
	d, err := p.cluster.definition(p.handler.resource.Kind)
	if err != nil {
		return scale.Paths{} // a built-in kind
	}
	return scale.PathsOf(d.Version(p.handler.resource.Kind.Version).Subresources.Scale)
}
