package admission

import (
	"fmt"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

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
			verbs:                map[string][]string{"": {"create", "delete", "update"}},
		}
		subresources, _ := v["subresources"].(map[string]any)
		if _, ok := subresources["status"]; ok {
			r.Subresources["status"], r.verbs["status"] = r.Kind, []string{"update"}
		}
		if _, ok := subresources["scale"]; ok {
			r.Subresources["scale"], r.verbs["scale"] = scaleKind, []string{"update"}
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
	custom := runtime.NewEquivalentResourceRegistry()
	for _, crd := range c.custom() {
		for _, r := range crdResources(crd) {
			register(custom, r)
		}
	}
	return equivalents{builtin: builtinResources().equivalents, custom: custom}
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

// definition is a CustomResourceDefinition made ready to serve
// (k8s.io/apiextensions-apiserver/pkg/apiserver, crdHandler.getOrCreateServingInfoFor).
type definition struct {
	crd     *apiextensionsv1.CustomResourceDefinition
	schemas map[string]*structuralschema.Structural
	storage string
}

// definition compiles the definition of a custom kind, once for an index.
func (c *Cluster) definition(kind schema.GroupKind) (*definition, error) {
	crd := c.custom()[kind]
	home := c.layers[0]
	for _, layer := range c.layers {
		if layer.getClusterScoped(kinds.Definition, crd.Name()) == crd {
			home = layer
			break
		}
	}
	if cached, ok := home.definitions.Load(crd); ok {
		return cached.(*definition), nil
	}
	d, err := newDefinition(crd)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name(), err)
	}
	home.definitions.Store(crd, d)
	return d, nil
}

func newDefinition(o *Object) (*definition, error) {
	obj, _, err := decodeBuiltin(o.GroupVersionKind(), o)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := apiextensionsCodec().scheme.Convert(obj, crd, nil); err != nil {
		return nil, err
	}
	d := &definition{crd: crd, schemas: map[string]*structuralschema.Structural{}}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			d.storage = v.Name
		}
		if v.Schema == nil {
			continue
		}
		if d.schemas[v.Name], err = structural(v.Schema, crd.Spec.PreserveUnknownFields); err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
	}
	return d, nil
}

func structural(v *apiextensionsv1.CustomResourceValidation, preserveUnknownFields bool) (*structuralschema.Structural, error) {
	internal, err := internalSchema(v)
	if err != nil {
		return nil, err
	}
	s, err := structuralschema.NewStructural(internal)
	if err != nil || preserveUnknownFields {
		if preserveUnknownFields {
			err = nil // such old definitions need no structural schema
		}
		return s, err
	}
	s = s.DeepCopy() // defaults are shared with the definition otherwise
	return s, structuraldefaulting.PruneDefaults(s)
}

func internalSchema(v *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	internal := &apiextensions.CustomResourceValidation{}
	err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v, internal, nil)
	return internal.OpenAPIV3Schema, err
}

func (d *definition) version(name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range d.crd.Spec.Versions {
		if v := &d.crd.Spec.Versions[i]; v.Name == name {
			return v
		}
	}
	return nil
}

// strategies are those the server installs for a custom resource.
func (d *definition) strategies(kind schema.GroupVersionKind) (strategies, error) {
	v := d.version(kind.Version)
	var props *apiextensions.JSONSchemaProps
	var err error
	if v.Schema != nil {
		if props, err = internalSchema(v.Schema); err != nil {
			return strategies{}, err
		}
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return strategies{}, err
	}
	status, scale, err := internalSubresources(v.Subresources)
	if err != nil {
		return strategies{}, err
	}
	var statusValidator validation.SchemaValidator
	if status != nil && props != nil {
		if statusProps, ok := props.Properties["status"]; ok {
			if statusValidator, _, err = validation.NewSchemaValidator(&statusProps); err != nil {
				return strategies{}, err
			}
		}
	}
	namespaced := d.crd.Spec.Scope == apiextensionsv1.NamespaceScoped
	s := customresource.NewStrategy(unstructuredTyper{}, namespaced, kind, validator, statusValidator, d.schemas[v.Name], status, scale, v.SelectableFields)
	return strategies{create: s, update: s, subresources: map[string]rest.RESTUpdateStrategy{
		"status": customresource.NewStatusStrategy(s),
	}}, nil
}

func internalSubresources(v *apiextensionsv1.CustomResourceSubresources) (status *apiextensions.CustomResourceSubresourceStatus, scale *apiextensions.CustomResourceSubresourceScale, err error) {
	if v == nil {
		return nil, nil, nil
	}
	internal := &apiextensions.CustomResourceSubresources{}
	err = apiextensionsv1.Convert_v1_CustomResourceSubresources_To_apiextensions_CustomResourceSubresources(v, internal, nil)
	return internal.Status, internal.Scale, err
}
