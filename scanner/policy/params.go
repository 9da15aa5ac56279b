package policy

import (
	"errors"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/admission"
)

func paramGVK(k *v1.ParamKind) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
}

// params collects what a binding evaluates a policy with: objects, or nil once
// for "without a param". No element means the binding does not apply. The rules
// are those of k8s.io/apiserver/pkg/admission/plugin/policy/generic,
// CollectParams; objects come in the order of namespace and name.
func (e *Engine) params(kind *v1.ParamKind, ref *v1.ParamRef, namespace string) ([]*admission.Object, error) {
	if kind == nil || ref == nil {
		return []*admission.Object{nil}, nil
	}
	resource, ok := e.cluster.Resource(paramGVK(kind))
	if !ok {
		return nil, errors.New("paramKind kind `" + kind.String() + "` not known")
	}
	switch {
	case !resource.Namespaced && ref.Namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case !resource.Namespaced:
		namespace = ""
	case ref.Namespace != "":
		namespace = ref.Namespace
	case namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	}
	found, err := e.selectParams(resource, ref, namespace)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == v1.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return found, nil
}

func (e *Engine) selectParams(resource admission.Resource, ref *v1.ParamRef, namespace string) ([]*admission.Object, error) {
	switch {
	case ref.Name != "" && ref.Selector != nil:
		return nil, errors.New("paramRef.name and paramRef.selector are mutually exclusive")
	case ref.Name != "":
		if o := e.cluster.Find(resource, namespace, ref.Name); o != nil {
			return []*admission.Object{o}, nil
		}
		return nil, nil
	case ref.Selector == nil:
		return nil, errors.New("one of name or selector must be provided")
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	if err != nil {
		return nil, err
	}
	var found []*admission.Object
	for _, o := range e.cluster.List(resource, namespace) {
		if selector.Matches(labels.Set(o.Labels())) {
			found = append(found, o)
		}
	}
	return found, nil
}

// paramContent is a param as expressions see it, in the version of paramKind.
func (e *Engine) paramContent(kind *v1.ParamKind, o *admission.Object) (map[string]any, error) {
	obj, err := e.cluster.Stored(o, paramGVK(kind))
	if err != nil {
		return nil, err
	}
	return admission.Content(obj)
}
