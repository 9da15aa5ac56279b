package policy

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/preadmit/preadmit/scanner/admission"
)

// requestNamespace is the namespace of a request, looked up once for all policies.
type requestNamespace struct {
	namespace *corev1.Namespace
	// assumed: only the namespace's name is known.
	assumed bool
	err     error

	// What namespaceObject is, when an expression has asked for it.
	shown, whole map[string]any
}

// namespace returns the namespace that the request's object lives in; without one for
// cluster-scoped objects, and for a Namespace, which for admission lives in itself.
func (d *dispatch) namespace() *requestNamespace {
	if d.resolved == nil {
		d.resolved = &requestNamespace{}
		if name := d.request.GetNamespace(); name != "" && !namespaceKind(d.request) {
			d.resolved.namespace, d.resolved.assumed, d.resolved.err = d.engine.cluster.Namespace(name)
		}
	}
	return d.resolved
}

func namespaceKind(req *admission.Request) bool {
	kind := req.GetKind()
	return kind.Group == "" && kind.Kind == "Namespace"
}

// object is namespaceObject with the fields the server shows to validations and
// messages; nil without a namespace.
func (n *requestNamespace) object() any {
	return namespaceContent(&n.shown, n.namespace, plugincel.CreateNamespaceObject)
}

// wholeObject is namespaceObject as audit annotations have it: with all fields.
func (n *requestNamespace) wholeObject() any {
	return namespaceContent(&n.whole, n.namespace, (*corev1.Namespace).DeepCopy)
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
