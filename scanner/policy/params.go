package policy

import (
	"errors"
	"fmt"
	"sync"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/cel"
)

func paramGVK(k *v1.ParamKind) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
}

// params returns the params with which a binding evaluates a policy: objects, or one nil for an
// evaluation without a param. Without elements the binding does not apply. The rules are those of
// k8s.io/apiserver/pkg/admission/plugin/policy/generic, CollectParams; objects are sorted by
// namespace and name.
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
	matches, err := selects(ref)
	if err != nil {
		return nil, err
	}
	found := e.selectParams(resource, ref, namespace, matches)
	if len(found) == 0 && !e.cluster.Lacks(resource, namespace, matches) {
		return nil, &UnknownParamError{resource.Kind.GroupKind(), namespace, ref.Name}
	}
	if len(found) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == v1.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return found, nil
}

// selects returns a function that reports whether a reference selects an object of the right kind and
// namespace.
func selects(ref *v1.ParamRef) (func(*admission.Object) bool, error) {
	switch {
	case ref.Name != "" && ref.Selector != nil:
		return nil, errors.New("paramRef.name and paramRef.selector are mutually exclusive")
	case ref.Name != "":
		return func(o *admission.Object) bool { return o.Name() == ref.Name }, nil
	case ref.Selector == nil:
		return nil, errors.New("one of name or selector must be provided")
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	if err != nil {
		return nil, err
	}
	return func(o *admission.Object) bool { return selector.Matches(labels.Set(o.Labels())) }, nil
}

func (e *Engine) selectParams(resource admission.Resource, ref *v1.ParamRef, namespace string, matches func(*admission.Object) bool) []*admission.Object {
	if ref.Name != "" {
		if o := e.cluster.Find(resource, namespace, ref.Name); o != nil {
			return []*admission.Object{o}
		}
		return nil
	}
	var found []*admission.Object
	for _, o := range e.cluster.List(resource, namespace) {
		if matches(o) {
			found = append(found, o)
		}
	}
	return found
}

// UnknownParamError is the error for a param that is not in the state, though the cluster may have
// it.
type UnknownParamError struct {
	kind schema.GroupKind
	// name is empty for a reference by selector.
	namespace, name string
}

func (e *UnknownParamError) Error() string {
	where := ""
	if e.namespace != "" {
		where = fmt.Sprintf(" in namespace %q", e.namespace)
	}
	what := fmt.Sprintf("its param, %s %q%s, is not in the repository, but the cluster may have it", e.kind.Kind, e.name, where)
	if e.name == "" {
		what = fmt.Sprintf("no %s%s matches the selector of paramRef in the repository, but in the cluster one may", e.kind.Kind, where)
	}
	return fmt.Sprintf("%s: add it, give it with --context, or say under targets that the repository has all of them (complete: [%s])", what, e.kind)
}

// paramKey is a param and the kind as which it is read.
type paramKey struct {
	object *admission.Object
	kind   schema.GroupVersionKind
}

// readParam is a param as expressions see it; they do not modify it. known is set if some of its values are
// unknown. err is set if the whole param is unknown: the API server refuses the param as written and has none
// or another one, or only a webhook converts it to the version of paramKind.
type readParam struct {
	content map[string]any
	known   any
	sizes   cel.Sizes
	err     error
}

// maxReads bounds the params that an engine keeps, in bytes of text. In memory they take ten times as
// much. It suffices for a few thousand params of usual size.
const maxReads = 2 << 20

// readParam returns a param in the version of paramKind. Results are kept for other requests up to
// maxReads.
func (e *Engine) readParam(kind *v1.ParamKind, o *admission.Object) readParam {
	key := paramKey{o, paramGVK(kind)}
	if read, ok := e.reads.Load(key); ok {
		return read.(func() readParam)()
	}
	read := func() (p readParam) {
		p.content, p.known, p.err = e.cluster.StoredContent(key.object, key.kind)
		if p.err != nil {
			p.err = fmt.Errorf("what the cluster has of its param, %s %q, is not known: %w", kind.Kind, o.Name(), p.err)
		}
		p.sizes = cel.SizesOf(p.content)
		return p
	}
	if text, err := o.JSON(); err != nil || e.readBytes.Add(int64(len(text))) > maxReads {
		return read()
	}
	kept, _ := e.reads.LoadOrStore(key, sync.OnceValue(read))
	return kept.(func() readParam)()
}
