package custom

import (
	"fmt"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
)

// Definition is a compiled CustomResourceDefinition (k8s.io/apiextensions-apiserver/pkg/apiserver,
// crdHandler.getOrCreateServingInfoFor).
type Definition struct {
	CRD     *apiextensionsv1.CustomResourceDefinition
	schemas map[string]*structuralschema.Structural
	storage string
	// embedding are the versions with embedded resources, whose metadata is decoded like that of
	// objects.
	embedding map[string]bool
}

// Compile compiles a CustomResourceDefinition of a kind and version.
func Compile(kind schema.GroupVersionKind, body []byte) (*Definition, error) {
	obj, _, err := builtin.Decode(kind, body)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := builtin.Extensions().Scheme.Convert(obj, crd, nil); err != nil {
		return nil, err
	}
	d := &Definition{CRD: crd, schemas: map[string]*structuralschema.Structural{}, embedding: map[string]bool{}}
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
		d.embedding[v.Name] = embeds(d.schemas[v.Name])
	}
	return d, nil
}

// embeds reports whether a schema has embedded resources.
func embeds(s *structuralschema.Structural) (found bool) {
	if s == nil {
		return false
	}
	visitor := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		found = found || s.XEmbeddedResource
		return false
	}}
	visitor.Visit(s)
	return found
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
	s = s.DeepCopy() // otherwise defaults are shared with the definition
	return s, structuraldefaulting.PruneDefaults(s)
}

func internalSchema(v *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	internal := &apiextensions.CustomResourceValidation{}
	err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v, internal, nil)
	return internal.OpenAPIV3Schema, err
}

// Version returns a version of the definition; nil when there is none.
func (d *Definition) Version(name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range d.CRD.Spec.Versions {
		if v := &d.CRD.Spec.Versions[i]; v.Name == name {
			return v
		}
	}
	return nil
}

// Strategies returns the strategies that the server installs for a custom resource.
func (d *Definition) Strategies(kind schema.GroupVersionKind) (builtin.Strategies, error) {
	v := d.Version(kind.Version)
	var props *apiextensions.JSONSchemaProps
	var err error
	if v.Schema != nil {
		if props, err = internalSchema(v.Schema); err != nil {
			return builtin.Strategies{}, err
		}
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return builtin.Strategies{}, err
	}
	status, scale, err := internalSubresources(v.Subresources)
	if err != nil {
		return builtin.Strategies{}, err
	}
	var statusValidator validation.SchemaValidator
	if status != nil && props != nil {
		if statusProps, ok := props.Properties["status"]; ok {
			if statusValidator, _, err = validation.NewSchemaValidator(&statusProps); err != nil {
				return builtin.Strategies{}, err
			}
		}
	}
	namespaced := d.CRD.Spec.Scope == apiextensionsv1.NamespaceScoped
	s := customresource.NewStrategy(unstructuredTyper{}, namespaced, kind, validator, statusValidator, d.schemas[v.Name], status, scale, v.SelectableFields)
	return builtin.Strategies{Create: s, Update: s, Subresources: map[string]rest.RESTUpdateStrategy{
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

// Schema returns the schema of a version; nil when there is none.
func (d *Definition) Schema(version string) *structuralschema.Structural { return d.schemas[version] }
