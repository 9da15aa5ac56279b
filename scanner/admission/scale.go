package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"
)

var scaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// scale prepares an update of the scale subresource: both objects are Scales,
// the old one made from the stored workload.
func (p *preparation) scale(ctx context.Context) (*Request, error) {
	if _, ok := p.handler.resource.Subresources["scale"]; !ok || p.ask.Operation != admission.Update {
		return nil, fmt.Errorf("%s of %s/scale is not supported", p.ask.Operation, p.handler.resource.Resource)
	}
	stored, err := p.stored()
	if err != nil {
		return nil, err
	}
	old, err := p.scaleOf(stored)
	if err != nil {
		return nil, err
	}
	sent, unknown, err := decodeBuiltin(scaleKind, p.ask.Object)
	if err != nil {
		return nil, err
	}
	for _, w := range unknown {
		warning.AddWarning(ctx, "", w)
	}
	if err := inherit(sent, old); err != nil {
		return nil, err
	}
	options := &metav1.UpdateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}}
	if p.ask.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	a := admission.NewAttributesRecord(sent, old, scaleKind, p.namespace, p.name,
		p.handler.resource.GroupVersionResource, "scale", admission.Update, options, p.ask.DryRun, p.ask.User)
	return newRequest(p.cluster, a, objectInterfaces{
		ObjectInterfaces: admission.NewObjectInterfacesFromScheme(coreCodec().scheme),
		mapper:           p.cluster.mapper(),
	}), nil
}

// inherit gives a sent Scale the metadata of the stored one.
func inherit(sent, old runtime.Object) error {
	m, err := meta.Accessor(sent)
	if err != nil {
		return err
	}
	from, err := meta.Accessor(old)
	if err != nil {
		return err
	}
	m.SetUID(from.GetUID())
	m.SetCreationTimestamp(from.GetCreationTimestamp())
	m.SetResourceVersion(from.GetResourceVersion())
	m.SetNamespace(from.GetNamespace())
	return nil
}

// scaleOf makes the Scale of a workload, in the internal version.
func (p *preparation) scaleOf(workload runtime.Object) (runtime.Object, error) {
	versioned, err := admission.ConvertToGVK(workload, p.handler.resource.Kind, p.handler.interfaces)
	if err != nil {
		return nil, err
	}
	content, err := Content(versioned)
	if err != nil {
		return nil, err
	}
	replicasPath, statusPath, selectorPath := p.scalePaths()
	replicas, _, _ := unstructured.NestedInt64(content, replicasPath...)
	current, _, _ := unstructured.NestedInt64(content, statusPath...)
	m, _ := content["metadata"].(map[string]any)
	scale := map[string]any{
		"apiVersion": scaleKind.GroupVersion().String(),
		"kind":       scaleKind.Kind,
		"metadata": map[string]any{
			"name": m["name"], "namespace": m["namespace"], "uid": m["uid"],
			"resourceVersion": m["resourceVersion"], "creationTimestamp": m["creationTimestamp"],
		},
		"spec":   map[string]any{"replicas": replicas},
		"status": map[string]any{"replicas": current, "selector": selectorText(content, selectorPath)},
	}
	obj, _, err := decodeBuiltin(scaleKind, NewObject(scale))
	return obj, err
}

func (p *preparation) scalePaths() (replicas, status, selector []string) {
	if !p.handler.resource.Custom {
		return []string{"spec", "replicas"}, []string{"status", "replicas"}, []string{"spec", "selector"}
	}
	d, err := p.cluster.definition(p.handler.resource.Kind.GroupKind())
	if err != nil {
		return nil, nil, nil
	}
	s := d.version(p.handler.resource.Kind.Version).Subresources.Scale
	if s.LabelSelectorPath != nil {
		selector = jsonPath(*s.LabelSelectorPath)
	}
	return jsonPath(s.SpecReplicasPath), jsonPath(s.StatusReplicasPath), selector
}

func jsonPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// selectorText writes a selector as status.selector of a Scale has it.
func selectorText(content map[string]any, path []string) string {
	value, found, _ := unstructured.NestedFieldNoCopy(content, path...)
	if !found {
		return ""
	}
	if text, ok := value.(string); ok {
		return text
	}
	var selector metav1.LabelSelector
	data, err := json.Marshal(value)
	if err != nil || json.Unmarshal(data, &selector) != nil {
		return ""
	}
	return metav1.FormatLabelSelector(&selector)
}
