package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// others is the manager of the fields of a live object that its tool did not write, if the object does not
// state their managers.
const others = "unknown"

// Owns reports whether an object's managed fields state which fields a tool applied.
func (a Applier) Owns(managers []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(managers, func(e metav1.ManagedFieldsEntry) bool {
		return e.Manager == a.Manager() && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == ""
	})
}

// ToolOf returns the tool that applied a live object, according to its managed fields; empty if none did, or
// several.
func ToolOf(content map[string]any) (tool Applier) {
	for _, e := range (&unstructured.Unstructured{Object: content}).GetManagedFields() {
		by, applies := Applier(""), e.Operation == metav1.ManagedFieldsOperationApply
		switch {
		case e.Subresource != "":
		case e.Manager == Flux.Manager() && applies:
			by = Flux
		case e.Manager == ArgoCDSSA.Manager() && applies:
			by = ArgoCDSSA
		case e.Manager == ArgoCD.Manager():
			by = ArgoCD
		case e.Manager == KubectlSSA.Manager() && applies:
			by = KubectlSSA
		case e.Manager == Kubectl.Manager():
			by = Kubectl
		}
		if by != "" && tool != "" && by != tool {
			return ""
		}
		tool = cmp.Or(by, tool)
	}
	return tool
}

// Assume returns a live object with assumed managed fields: the tool that applied it last manages the fields
// that equal those of last, and another manager the rest. last has managed fields. If no field equals last,
// others manage all fields; then the object keeps its own managed fields, if any, and known is true.
func (f *Fields) Assume(live, last runtime.Object, by Applier) (obj runtime.Object, known bool, err error) {
	m, err := meta.Accessor(live)
	if err != nil {
		return nil, false, fmt.Errorf("read the managers of an object of the cluster: %w", err)
	}
	managers := m.GetManagedFields()
	m.SetManagedFields(nil)
	if obj, err = f.Update(last, live, others); err != nil {
		return nil, false, err
	}
	if m, err = meta.Accessor(obj); err != nil {
		return nil, false, fmt.Errorf("read the managers of an object of the cluster: %w", err)
	}
	if len(managers) > 0 && !by.Owns(m.GetManagedFields()) {
		m.SetManagedFields(managers)
		return obj, true, nil
	}
	return obj, false, nil
}

// Remember sets the last-applied annotation of a tool that merges on a live object, with the value
// that last has, unless the object has one.
func Remember(live, last runtime.Object) error {
	m, err := meta.Accessor(live)
	if err != nil {
		return fmt.Errorf("annotate an object of the cluster: %w", err)
	}
	was, err := meta.Accessor(last)
	if err != nil {
		return fmt.Errorf("read what was last applied: %w", err)
	}
	annotations := m.GetAnnotations()
	if applied, ok := was.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; ok && annotations[corev1.LastAppliedConfigAnnotation] == "" {
		annotations = maps.Clone(annotations)
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[corev1.LastAppliedConfigAnnotation] = applied
		m.SetAnnotations(annotations)
	}
	return nil
}
