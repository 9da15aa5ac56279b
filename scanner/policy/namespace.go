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
	// assumed is set if only the namespace's name is known.
	assumed bool
	err     error

	// shown and whole cache the contents of namespaceObject.
	shown, whole map[string]any
}

// namespace returns the namespace of the request's object; it is empty for cluster-scoped objects and
// for a Namespace, whose admission namespace is itself.
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

// object returns namespaceObject with the fields that the server provides to validations and
// messages; nil without a namespace.
func (n *requestNamespace) object() any {
	return namespaceContent(&n.shown, n.namespace, plugincel.CreateNamespaceObject)
}

// wholeObject returns namespaceObject for audit annotations: with all fields.
func (n *requestNamespace) wholeObject() any {
	return namespaceContent(&n.whole, n.namespace, (*corev1.Namespace).DeepCopy)
}

func noNamespace() any { return nil }

// namespaceContent fills in content, if it is empty, with a copy of a namespace.
func namespaceContent(content *map[string]any, ns *corev1.Namespace, copied func(*corev1.Namespace) *corev1.Namespace) any {
	if ns == nil {
		return nil
	}
	if *content == nil {
		seen := copied(ns)
		seen.TypeMeta = metav1.TypeMeta{} // as an informer returns it
		var err error
		if *content, err = admission.Content(seen); err != nil {
			return nil
		}
	}
	return *content
}
