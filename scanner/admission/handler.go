package admission

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// handler is what serves the requests of one kind.
type handler struct {
	resource Resource
	strategies
	// deprecation is a warning sent with every answer, if not empty.
	deprecation string
	// decode turns what is sent into the object the server works on: defaulted, in the
	// internal version for built-in kinds. Warnings are those of strict decoding.
	decode func(sent *Object) (obj runtime.Object, warnings []string, err error)
	// convert gives an object of any version of the kind as the server hands it to
	// admission for a request of this version.
	convert func(obj runtime.Object) (runtime.Object, error)
	// interfaces convert objects for policies that match another version.
	interfaces admission.ObjectInterfaces
}

// UnknownKindError says that nothing in the state defines a kind.
type UnknownKindError struct {
	Kind schema.GroupVersionKind
	// Builtin is set when the API group is Kubernetes' own but this version or kind
	// of it is not served.
	Builtin bool
}

func (e *UnknownKindError) Error() string {
	gv := e.Kind.GroupVersion()
	if e.Builtin {
		return fmt.Sprintf("Kubernetes %s does not serve %s %s; use a version it serves", KubernetesVersion, gv, e.Kind.Kind)
	}
	return fmt.Sprintf("no CustomResourceDefinition defines %s %s; add it to the repository or give it with --context", gv, e.Kind.Kind)
}

// handler finds or makes the handler of a kind.
func (c *Cluster) handler(kind schema.GroupVersionKind) (*handler, error) {
	c.mu.Lock()
	h, ok := c.handlers[kind]
	c.mu.Unlock()
	if ok {
		return h, nil
	}
	h, err := c.newHandler(kind)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers[kind] = h
	return h, nil
}

func (c *Cluster) newHandler(kind schema.GroupVersionKind) (*handler, error) {
	if r, ok := builtinResources().byKind[kind]; ok {
		return c.newBuiltinHandler(r), nil
	}
	if _, ok := c.Resource(kind); ok {
		return c.newCustomHandler(kind)
	}
	return nil, &UnknownKindError{Kind: kind, Builtin: isBuiltinGroup(kind.Group)}
}

func isBuiltinGroup(group string) bool {
	return codecOf(group).scheme.IsGroupRegistered(group)
}

func (c *Cluster) newBuiltinHandler(r Resource) *handler {
	kind := r.Kind
	return &handler{
		resource:    r,
		strategies:  c.builtinStrategy(r.GroupResource()),
		deprecation: builtinDeprecation(kind),
		decode: func(sent *Object) (runtime.Object, []string, error) {
			return decodeBuiltin(kind, sent)
		},
		convert: func(obj runtime.Object) (runtime.Object, error) { return obj, nil }, // internal is one for all versions
		interfaces: objectInterfaces{
			ObjectInterfaces: admission.NewObjectInterfacesFromScheme(codecOf(kind.Group).scheme),
			mapper:           c.mapper(),
		},
	}
}

// decodeBuiltin decodes as the create handler of a kube-apiserver does
// (k8s.io/apiserver/pkg/endpoints/handlers/create.go, fieldValidation=Warn).
func decodeBuiltin(kind schema.GroupVersionKind, sent *Object) (runtime.Object, []string, error) {
	body, err := sent.JSON()
	if err != nil {
		return nil, nil, fmt.Errorf("encode %s: %w", kind.Kind, err)
	}
	codec := codecOf(kind.Group)
	into, err := codec.scheme.New(schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind})
	if err != nil {
		return nil, nil, fmt.Errorf("make a %s: %w", kind.Kind, err)
	}
	obj, actual, err := codec.decoder(kind.Group).Decode(body, &kind, into)
	if err == nil {
		return obj, nil, nil
	}
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok || obj == nil {
		return nil, nil, decodeError(err, actual, kind)
	}
	return obj, texts(strict.Errors()), nil
}

// decodeError words a decoding failure as the server does
// (k8s.io/apiserver/pkg/endpoints/handlers/rest.go, transformDecodeError).
func decodeError(err error, actual *schema.GroupVersionKind, want schema.GroupVersionKind) error {
	if actual != nil && actual.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", actual.Kind, actual.Version, want.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v", want.Kind, err))
}

func texts(errs []error) []string {
	out := make([]string, len(errs))
	for i, err := range errs {
		out[i] = err.Error()
	}
	return out
}

// objectInterfaces are a scheme's with the equivalent resources of a cluster.
type objectInterfaces struct {
	admission.ObjectInterfaces
	mapper runtime.EquivalentResourceMapper
}

func (o objectInterfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper {
	return o.mapper
}
