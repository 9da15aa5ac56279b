package admission

import (
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"

	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/custom"
	"github.com/preadmit/preadmit/scanner/admission/etcd"
	"github.com/preadmit/preadmit/scanner/admission/scale"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// handler serves the requests of one kind.
type handler struct {
	resource Resource
	builtin.Strategies
	// deprecation is a warning sent with every response, if not empty.
	deprecation string
	// decode decodes a body into the object that the server works on: defaulted, in the internal
	// version for built-in kinds. warnings are those of strict decoding.
	decode func(sent *Object) (obj runtime.Object, warnings []string, err error)
	// convert converts an object of any version of the kind as the server passes it to admission for
	// a request of this version.
	convert func(obj runtime.Object) (runtime.Object, error)
	// plain reports whether applying a new object has the same result as creating it.
	plain func(*Object, *apply.Manifest) bool
	// fields returns the field manager of the kind, for server-side apply.
	fields func() (*apply.Fields, error)
	// interfaces convert objects for policies that match another version.
	interfaces admission.ObjectInterfaces
}

// etcd returns the kind as etcd stores it.
func (h *handler) etcd() etcd.Kind {
	return etcd.Kind{GroupVersionKind: h.resource.Kind, Custom: h.resource.Custom}
}

// UnknownKindError is the error for a kind that the state does not define or serve.
type UnknownKindError = custom.UnknownKindError

// UnknownKind returns the error for a kind that is not served.
func (c *Cluster) UnknownKind(kind schema.GroupVersionKind) *UnknownKindError {
	e := &UnknownKindError{Kind: kind, Builtin: BuiltinGroup(kind.Group)}
	if !e.Builtin {
		e.Definition, e.Versions = c.servedVersions(kind.GroupKind())
	}
	return e
}

// handler returns the handler of a kind.
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

// storedHandler returns the handler for stored objects of a kind. They may have been sent in a version that
// the server no longer serves, but still reads.
func (c *Cluster) storedHandler(kind schema.GroupVersionKind) (*handler, error) {
	h, err := c.handler(kind)
	if err == nil {
		return h, nil
	}
	made, _ := c.unserved.LoadOrStore(kind, sync.OnceValues(func() (*handler, error) {
		r, ok := c.anyVersion(kind.GroupKind())
		if !ok {
			return nil, err
		}
		r.Version, r.Kind = kind.Version, kind
		switch {
		case !r.Custom && builtin.CodecOf(kind.Group).Scheme.Recognizes(kind):
			return c.newBuiltinHandler(r), nil
		case r.Custom:
			if d, failed := c.definition(kind); failed == nil && d.Version(kind.Version) != nil {
				return c.newCustomHandlerOf(r, d)
			}
		}
		return nil, err
	}))
	return made.(func() (*handler, error))()
}

func (c *Cluster) newHandler(kind schema.GroupVersionKind) (*handler, error) {
	if r, ok := builtin.Of(kind); ok {
		return c.newBuiltinHandler(r), nil
	}
	if _, ok := c.Resource(kind); ok {
		return c.newCustomHandler(kind)
	}
	return nil, c.UnknownKind(kind)
}

func (c *Cluster) newBuiltinHandler(r Resource) *handler {
	kind := r.Kind
	strategies := c.builtinStrategy(r.GroupResource())
	return &handler{
		resource:    r,
		Strategies:  strategies,
		plain:       func(_ *Object, m *apply.Manifest) bool { return m.IsPlain() },
		fields:      sync.OnceValues(func() (*apply.Fields, error) { return builtin.FieldsOf(kind, strategies) }),
		deprecation: builtin.Deprecation(kind),
		decode: func(sent *Object) (runtime.Object, []string, error) {
			return decodeBuiltin(kind, sent)
		},
		convert: func(obj runtime.Object) (runtime.Object, error) { return obj, nil }, // all versions share the internal one
		interfaces: objectInterfaces{
			ObjectInterfaces: admission.NewObjectInterfacesFromScheme(builtin.CodecOf(kind.Group).Scheme),
			mapper:           c.mapper(),
		},
	}
}

// Types returns the type converter of a kind, for structured-merge-diff.
func (c *Cluster) Types(kind schema.GroupVersionKind) (managedfields.TypeConverter, error) {
	if kind == scale.Kind {
		return builtin.Types(groupAdmissionregistration) // a server has no types for Scale
	}
	if _, ok := builtin.Of(kind); ok {
		return builtin.Types(kind.Group)
	}
	d, err := c.definition(kind)
	if err != nil {
		return nil, err
	}
	return d.Types()
}

// objectInterfaces are those of a scheme with the equivalent resources of a cluster.
type objectInterfaces struct {
	admission.ObjectInterfaces
	mapper runtime.EquivalentResourceMapper
}

func (o objectInterfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper {
	return o.mapper
}

// decodeBuiltin decodes an object of a built-in kind.
func decodeBuiltin(kind schema.GroupVersionKind, sent *Object) (runtime.Object, []string, error) {
	body, err := sent.JSON()
	if err != nil {
		return nil, nil, fmt.Errorf("encode %s: %w", kind.Kind, err)
	}
	return builtin.Decode(kind, body)
}

// ConversionError is the error for a custom resource that only a webhook can convert.
type ConversionError = custom.ConversionError

// names returns an error if a Scale has another version or name than its request path
// (k8s.io/apiserver/pkg/endpoints/handlers, UpdateResource and checkName).
func (p *preparation) names(name string) error {
	if sent := p.client.Object.GroupVersionKind().GroupVersion(); sent != scale.Kind.GroupVersion() {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", sent, scale.Kind.GroupVersion()))
	}
	return named(name, p.name)
}

// named returns an error if an object has another name than its request path.
func named(name, path string) error {
	switch name {
	case path:
		return nil
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", path))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, path))
}

const (
	groupAdmissionregistration = kinds.GroupAdmission
	groupRBAC                  = kinds.GroupRBAC
	groupResource              = "resource.k8s.io"
)

func gr(group, resource string) schema.GroupResource { return builtin.GR(group, resource) }

// builtinStrategy returns the strategies of a built-in resource. Those of policies and resource
// claims read the cluster: they check that the user may read what a policy refers to.
func (c *Cluster) builtinStrategy(resource schema.GroupResource) builtin.Strategies {
	switch resource {
	case gr(groupAdmissionregistration, "validatingadmissionpolicies"):
		s := validatingadmissionpolicy.NewStrategy(c.nativeAuthorizer(), c)
		return builtin.WithStatus(s, validatingadmissionpolicy.NewStatusStrategy(s))
	case gr(groupAdmissionregistration, "validatingadmissionpolicybindings"):
		return builtin.Both(validatingadmissionpolicybinding.NewStrategy(c.nativeAuthorizer(), c, c))
	case gr(groupAdmissionregistration, "mutatingadmissionpolicies"):
		return builtin.Both(mutatingadmissionpolicy.NewStrategy(c.nativeAuthorizer(), c))
	case gr(groupAdmissionregistration, "mutatingadmissionpolicybindings"):
		return builtin.Both(mutatingadmissionpolicybinding.NewStrategy(c.nativeAuthorizer(), c, c))
	case gr(groupResource, "resourceclaims"):
		s := resourceclaim.NewStrategy(namespaceGetter{cluster: c}, c.nativeAuthorizer())
		return builtin.WithStatus(s, resourceclaim.NewStatusStrategy(s))
	case gr(groupResource, "resourceclaimtemplates"):
		return builtin.Both(resourceclaimtemplate.NewStrategy(namespaceGetter{cluster: c}))
	}
	return builtin.StrategiesOf(resource)
}
