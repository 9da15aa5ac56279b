package admission

import (
	"fmt"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/custom"
	"github.com/preadmit/preadmit/scanner/admission/openapi"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// customKinds maps the kinds that CustomResourceDefinitions of the state define to the defining
// objects.
func (c *Cluster) customKinds() map[schema.GroupKind]*Object {
	all := map[schema.GroupKind]*Object{}
	for _, o := range c.list(kinds.Definition) {
		kind := o.Defined()
		if _, ok := all[kind]; !ok && kind.Group != "" && kind.Kind != "" {
			all[kind] = o
		}
	}
	return all
}

// servedVersions returns the versions of a kind that the state's CustomResourceDefinitions serve, and the
// name of one of these; none for a kind that nothing defines.
func (c *Cluster) servedVersions(kind schema.GroupKind) (definition string, versions []string) {
	if c.custom()[kind] == nil {
		return "", nil
	}
	for _, o := range c.list(kinds.Definition) {
		if o.Defined() != kind {
			continue
		}
		definition = o.Name()
		for _, r := range custom.AllServed(o.outline()) {
			if !slices.Contains(versions, r.Version) {
				versions = append(versions, r.Version)
			}
		}
	}
	return definition, versions
}

// anyVersion returns a served version of a kind.
func (c *Cluster) anyVersion(kind schema.GroupKind) (r Resource, ok bool) {
	if r, ok = builtin.AnyVersion(kind); ok {
		return r, ok
	}
	if crd := c.custom()[kind]; crd != nil {
		for _, r := range custom.AllServed(crd.outline()) {
			return r, true
		}
	}
	return r, false
}

// newEquivalents returns a mapper of the equivalent resources of built-in and custom kinds.
func (c *Cluster) newEquivalents() runtime.EquivalentResourceMapper {
	registry := runtime.NewEquivalentResourceRegistry()
	for _, crd := range c.custom() {
		for _, r := range custom.AllServed(crd.outline()) {
			builtin.Register(registry, r)
		}
	}
	return equivalents{builtin: builtin.Equivalents(), custom: registry}
}

type equivalents struct {
	builtin, custom runtime.EquivalentResourceMapper
}

// EquivalentResourcesFor implements runtime.EquivalentResourceMapper.
func (e equivalents) EquivalentResourcesFor(r schema.GroupVersionResource, subresource string) []schema.GroupVersionResource {
	if found := e.builtin.EquivalentResourcesFor(r, subresource); len(found) > 0 {
		return found
	}
	return e.custom.EquivalentResourcesFor(r, subresource)
}

// KindFor implements runtime.EquivalentResourceMapper.
func (e equivalents) KindFor(r schema.GroupVersionResource, subresource string) schema.GroupVersionKind {
	if kind := e.builtin.KindFor(r, subresource); !kind.Empty() {
		return kind
	}
	return e.custom.KindFor(r, subresource)
}

// definition compiles the definition of a custom kind, once for each index.
func (c *Cluster) definition(kind schema.GroupVersionKind) (*custom.Definition, error) {
	crd := c.custom()[kind.GroupKind()]
	if crd == nil {
		return c.assumedDefinition(kind)
	}
	home := c.layers[0]
	for _, layer := range c.layers {
		if layer.getClusterScoped(kinds.Definition, crd.Name()) == crd {
			home = layer
			break
		}
	}
	if cached, ok := home.definitions.Load(crd); ok {
		return cached.(*custom.Definition), nil
	}
	body, err := crd.JSON()
	if err != nil {
		return nil, fmt.Errorf("encode CustomResourceDefinition %s: %w", crd.Name(), err)
	}
	d, err := custom.Compile(crd.GroupVersionKind(), body)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name(), err)
	}
	home.definitions.Store(crd, d)
	return d, nil
}

// Schemas returns a resolver of the OpenAPI schemas of the kinds that the cluster serves, as the controller
// that type-checks policies sees them.
func (c *Cluster) Schemas() resolver.SchemaResolver {
	return openapi.Resolver(func() (all []openapi.Custom) {
		for _, r := range c.Resources() {
			if r.Custom {
				all = append(all, openapi.Custom{Version: r.GroupVersion(), Definition: func() (*apiextensionsv1.CustomResourceDefinition, error) {
					d, err := c.definition(r.Kind)
					if err != nil {
						return nil, err
					}
					return d.CRD, nil
				}})
			}
		}
		return all
	})
}

func (c *Cluster) newCustomHandler(kind schema.GroupVersionKind) (*handler, error) {
	d, err := c.definition(kind)
	if err != nil {
		return nil, err
	}
	r, _ := c.Resource(kind)
	return c.newCustomHandlerOf(r, d)
}

func (c *Cluster) newCustomHandlerOf(r Resource, d *custom.Definition) (*handler, error) {
	kind := r.Kind
	s, err := d.Strategies(kind)
	if err != nil {
		return nil, err
	}
	return &handler{
		resource:    r,
		Strategies:  s,
		deprecation: d.Deprecation(d.Version(kind.Version)),
		decode: func(sent *Object) (runtime.Object, []string, error) {
			body, err := sent.JSON()
			if err != nil {
				return nil, nil, fmt.Errorf("encode %s: %w", kind.Kind, err)
			}
			return d.Decode(kind, body)
		},
		convert: func(obj runtime.Object) (runtime.Object, error) {
			return d.Read(obj, kind.GroupVersion())
		},
		plain: func(o *Object, m *apply.Manifest) bool {
			return m.HasPlainMetadata() && d.Plain(o.passingContent(), kind.Version)
		},
		fields:     sync.OnceValues(func() (*apply.Fields, error) { return d.Fields(kind, builtin.ResetFields(s)) }),
		interfaces: d.Interfaces(c.mapper()),
	}, nil
}

// assumed returns how a kind is served that the state does not define, but that is known by name.
func (c *Cluster) assumed(kind schema.GroupVersionKind) (Resource, bool) {
	known, ok := kinds.ByName(kind.GroupKind())
	if !ok || c.KnowsKinds() {
		return Resource{}, false
	}
	r, ok := custom.Served(NewObject(custom.Assumed(kind, known)).outline(), kind.Version)
	r.Assumed = true
	return r, ok
}

// assumedDefinition returns the definition of a kind that is known by name.
func (c *Cluster) assumedDefinition(kind schema.GroupVersionKind) (*custom.Definition, error) {
	known, ok := kinds.ByName(kind.GroupKind())
	if !ok {
		return nil, &UnknownKindError{Kind: kind}
	}
	return custom.CompileAssumed(kind, known)
}
