package policy

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/preadmit/preadmit/scanner/admission"
)

// home is the namespace of a request, looked up once for all policies.
type home struct {
	namespace *corev1.Namespace
	// assumed: only the namespace's name is known.
	assumed bool
	err     error

	// What namespaceObject is, when an expression has asked for it.
	shown, whole map[string]any
}

// home is the namespace the request's object lives in; without one for
// cluster-scoped objects, and for a Namespace, which for admission lives in itself.
func (d *dispatch) home() *home {
	if d.lives == nil {
		d.lives = &home{}
		if name := d.request.GetNamespace(); name != "" && !namespaceKind(d.request) {
			d.lives.namespace, d.lives.assumed, d.lives.err = d.engine.cluster.Namespace(name)
		}
	}
	return d.lives
}

func namespaceKind(req *admission.Request) bool {
	kind := req.GetKind()
	return kind.Group == "" && kind.Kind == "Namespace"
}

// object is namespaceObject with the fields the server shows to validations and
// messages; nil without a namespace.
func (h *home) object() any {
	return namespaceContent(&h.shown, h.namespace, plugincel.CreateNamespaceObject)
}

// wholeObject is namespaceObject as audit annotations have it: with all fields.
func (h *home) wholeObject() any {
	return namespaceContent(&h.whole, h.namespace, (*corev1.Namespace).DeepCopy)
}

func noNamespace() any { return nil }

// namespaceContent fills in content, if it is not there yet, with a copy.
func namespaceContent(content *map[string]any, ns *corev1.Namespace, copied func(*corev1.Namespace) *corev1.Namespace) any {
	if ns == nil {
		return nil
	}
	if *content == nil {
		seen := copied(ns)
		seen.TypeMeta = metav1.TypeMeta{} // as an informer has it
		var err error
		if *content, err = admission.Content(seen); err != nil {
			return nil
		}
	}
	return *content
}
