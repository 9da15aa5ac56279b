package admission

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	api "k8s.io/kubernetes/pkg/apis/core"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
)

var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// addressed is the object that the path of the request names: for an update of a Scale, the workload.
func (a Ask) addressed() *Object {
	if a.Subresource == "scale" && a.OldObject != nil {
		return a.OldObject
	}
	return a.Main()
}

// scale prepares an update of the scale subresource. The server turns the Scale
// that is sent into an update of the workload, and shows admission the Scales of
// the workload before and after (ScaleREST of k8s.io/kubernetes/pkg/registry/apps
// and of k8s.io/apiextensions-apiserver/pkg/registry/customresource).
func (p *preparation) scale(ctx context.Context) (*Request, error) {
	if _, ok := p.handler.resource.Subresources["scale"]; !ok || p.ask.Operation != admission.Update {
		return nil, fmt.Errorf("%s of %s/scale is not supported", p.ask.Operation, p.handler.resource.Resource)
	}
	stored, err := p.stored()
	if err != nil {
		return nil, err
	}
	sent, err := p.sentScale(ctx)
	if err != nil {
		return nil, err
	}
	options := &metav1.UpdateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}}
	if p.ask.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	var before, after *autoscaling.Scale
	if before, err = p.scaleOf(stored); err != nil {
		return nil, err
	}
	interfaces := objectInterfaces{
		ObjectInterfaces: admission.NewObjectInterfacesFromScheme(builtin.Core().Scheme),
		mapper:           p.cluster.mapper(),
	}
	if err := p.mutateScale(ctx, admission.NewAttributesRecord(sent, before, scaleKind, p.namespace, p.name,
		p.handler.resource.GroupVersionResource, "scale", admission.Update, options, p.ask.DryRun, p.ask.User), interfaces); err != nil {
		return nil, err
	}
	workload, err := p.scaled(ctx, stored, sent.Spec.Replicas)
	if err != nil {
		return nil, err
	}
	if after, err = p.scaleOf(workload); err != nil {
		return nil, err
	}
	a := admission.NewAttributesRecord(after, before, scaleKind, p.namespace, p.name,
		p.handler.resource.GroupVersionResource, "scale", admission.Update, options, p.ask.DryRun, p.ask.User)
	return newRequest(p.cluster, a, interfaces), nil
}

// mutateScale has policies change the Scale that is sent.
func (p *preparation) mutateScale(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if p.ask.Mutator == nil {
		return nil
	}
	for range 2 {
		if err := p.ask.Mutator.Mutate(ctx, newRequest(p.cluster, a, o)); err != nil || !a.GetReinvocationContext().ShouldReinvoke() {
			return err
		}
		a.GetReinvocationContext().SetIsReinvoke()
	}
	return nil
}

// sentScale decodes the Scale that is sent.
func (p *preparation) sentScale(ctx context.Context) (*autoscaling.Scale, error) {
	obj, unknown, err := decodeBuiltin(scaleKind, p.ask.Object)
	if err != nil && p.handler.resource.Custom {
		// The server of custom resources does not know Scale when it words this.
		return nil, apierrors.NewBadRequest(runtime.NewNotRegisteredErrForType("pkg/runtime/scheme.go:111", reflect.TypeFor[autoscalingv1.Scale]()).Error())
	}
	if err != nil {
		return nil, err
	}
	for _, w := range unknown {
		warning.AddWarning(ctx, "", w)
	}
	scale, ok := obj.(*autoscaling.Scale)
	if !ok {
		return nil, fmt.Errorf("unexpected type %T of a Scale", obj)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(p.objectNamespace(), scale); err != nil {
		return nil, err
	}
	if err := p.names(scale.Name); err != nil {
		return nil, err
	}
	if errs := autoscalingvalidation.ValidateScale(scale); len(errs) > 0 && !p.handler.resource.Custom {
		return nil, apierrors.NewInvalid(autoscaling.Kind("Scale"), p.name, errs)
	}
	return scale, nil
}

// scaled returns the workload with another number of replicas, as the update of the
// workload makes it.
func (p *preparation) scaled(ctx context.Context, stored runtime.Object, replicas int32) (runtime.Object, error) {
	workload := stored.DeepCopyObject()
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
		path, _, _ := p.scalePaths()
		if err := unstructured.SetNestedField(w.Object, int64(replicas), path...); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
	default:
		return nil, fmt.Errorf("%s cannot be scaled", p.handler.resource.Resource)
	}
	return workload, rest.BeforeUpdate(p.handler.Update, ctx, workload, stored)
}

// scaleOf makes the Scale of a workload.
func (p *preparation) scaleOf(workload runtime.Object) (*autoscaling.Scale, error) {
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
		return p.customScale(w)
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

// customScale makes the Scale of a custom resource, whose definition says where
// things are.
func (p *preparation) customScale(u *unstructured.Unstructured) (*autoscaling.Scale, error) {
	replicasPath, currentPath, selectorPath := p.scalePaths()
	replicas, _, err := unstructured.NestedInt64(u.Object, replicasPath...)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	current, _, err := unstructured.NestedInt64(u.Object, currentPath...)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	scale, err := newScale(u, int32(replicas), int32(current), nil)
	if err != nil {
		return nil, err
	}
	scale.Status.Selector = ""
	if selectorPath != nil {
		scale.Status.Selector, _, err = unstructured.NestedString(u.Object, selectorPath...)
	}
	return scale, err
}

// scalePaths are where a custom resource has its replicas, the number of those that
// are there, and its selector, which it may not have.
func (p *preparation) scalePaths() (replicas, status, selector []string) {
	d, err := p.cluster.definition(p.handler.resource.Kind)
	if err != nil {
		return nil, nil, nil
	}
	s := d.Version(p.handler.resource.Kind.Version).Subresources.Scale
	if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
		selector = jsonPath(*s.LabelSelectorPath)
	}
	return jsonPath(s.SpecReplicasPath), jsonPath(s.StatusReplicasPath), selector
}

func jsonPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
