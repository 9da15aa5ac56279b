package admission

import (
	"fmt"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/custom"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// customKinds maps the kinds that CustomResourceDefinitions of the state define
// to the object that defines them.
func (c *Cluster) customKinds() map[schema.GroupKind]*Object {
	custom := map[schema.GroupKind]*Object{}
	for _, o := range c.list(kinds.Definition) {
		group, _, _ := unstructured.NestedString(o.Content(), "spec", "group")
		kind, _, _ := unstructured.NestedString(o.Content(), "spec", "names", "kind")
		gk := schema.GroupKind{Group: group, Kind: kind}
		if _, ok := custom[gk]; !ok && group != "" && kind != "" {
			custom[gk] = o
		}
	}
	return custom
}

// crdResource reads how a definition serves a version, from its text: cheap, and
// enough for look-ups.
func crdResource(crd *Object, version string) (Resource, bool) {
	spec, _ := crd.Content()["spec"].(map[string]any)
	group, _ := spec["group"].(string)
	scope, _ := spec["scope"].(string)
	names, _ := spec["names"].(map[string]any)
	plural, _ := names["plural"].(string)
	kind, _ := names["kind"].(string)
	singular, _ := names["singular"].(string)
	if singular == "" {
		singular = strings.ToLower(kind)
	}
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		if v["name"] != version || v["served"] != true {
			continue
		}
		gv := schema.GroupVersion{Group: group, Version: version}
		r := Resource{
			GroupVersionResource: gv.WithResource(plural),
			Kind:                 gv.WithKind(kind),
			Namespaced:           scope == string(apiextensionsv1.NamespaceScoped),
			Custom:               true,
			Subresources:         map[string]schema.GroupVersionKind{},
			Singular:             singular,
			Verbs:                map[string][]string{"": {"create", "delete", "update"}},
		}
		subresources, _ := v["subresources"].(map[string]any)
		if _, ok := subresources["status"]; ok {
			r.Subresources["status"], r.Verbs["status"] = r.Kind, []string{"update"}
		}
		if _, ok := subresources["scale"]; ok {
			r.Subresources["scale"], r.Verbs["scale"] = scaleKind, []string{"update"}
		}
		return r, plural != ""
	}
	return Resource{}, false
}

// crdResources are the versions a definition serves.
func crdResources(crd *Object) []Resource {
	var out []Resource
	versions, _, _ := unstructured.NestedSlice(crd.Content(), "spec", "versions")
	for _, v := range versions {
		m, _ := v.(map[string]any)
		name, _ := m["name"].(string)
		if r, ok := crdResource(crd, name); ok {
			out = append(out, r)
		}
	}
	return out
}

// newEquivalents knows the equivalent resources of built-in and custom kinds.
func (c *Cluster) newEquivalents() runtime.EquivalentResourceMapper {
	registry := runtime.NewEquivalentResourceRegistry()
	for _, crd := range c.custom() {
		for _, r := range crdResources(crd) {
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

// definition compiles the definition of a custom kind, once for an index.
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

func (c *Cluster) newCustomHandler(kind schema.GroupVersionKind) (*handler, error) {
	d, err := c.definition(kind)
	if err != nil {
		return nil, err
	}
	s, err := d.Strategies(kind)
	if err != nil {
		return nil, err
	}
	r, _ := c.Resource(kind)
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
		fields:     sync.OnceValues(func() (*apply.Fields, error) { return d.Fields(kind, builtin.ResetFields(s)) }),
		interfaces: d.Interfaces(c.mapper()),
	}, nil
}

// assumed returns how a kind is served that nothing in the state defines, but that is known
// by name.
func (c *Cluster) assumed(kind schema.GroupVersionKind) (Resource, bool) {
	known, ok := kinds.ByName(kind.GroupKind())
	if !ok || c.KnowsKinds() {
		return Resource{}, false
	}
	r, ok := crdResource(NewObject(custom.Assumed(kind, known)), kind.Version)
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
