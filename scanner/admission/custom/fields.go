package custom

import (
	"fmt"

	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// Fields returns the field manager of custom resources of a kind, for server-side apply
// (k8s.io/apiextensions-apiserver/pkg/apiserver, getOrCreateServingInfoFor).
func (d *Definition) Fields(kind schema.GroupVersionKind, reset map[fieldpath.APIVersion]fieldpath.Filter) (*apply.Fields, error) {
	types, err := d.Types()
	if err != nil {
		return nil, err
	}
	hub := kind.GroupVersion() // as in the server, whatever version is stored
	m := apply.Model{Kind: kind, Hub: hub, Types: types, Convertor: customConvertor{definition: d}, Defaulter: defaulter{d}, Reset: reset}
	manager, err := managedfields.NewDefaultCRDFieldManager(m.Types, m.Convertor, m.Defaulter, unstructuredCreater{}, kind, hub, "", reset)
	if err != nil {
		return nil, fmt.Errorf("manage the fields of %s: %w", kind.Kind, err)
	}
	return &apply.Fields{FieldManager: manager, Model: m, Create: func() (runtime.Object, error) { return unstructuredCreater{}.New(kind) }}, nil
}

// Types returns the types of all versions of the kind.
func (d *Definition) Types() (managedfields.TypeConverter, error) {
	models := map[string]*spec.Schema{}
	for _, v := range d.CRD.Spec.Versions {
		document, err := builder.BuildOpenAPIV3(d.CRD, v.Name, builder.Options{})
		if err != nil {
			return nil, fmt.Errorf("types of %s: %w", d.CRD.Name, err)
		}
		for name, s := range document.Components.Schemas {
			models[name] = s
		}
	}
	types, err := managedfields.NewTypeConverter(models, d.CRD.Spec.PreserveUnknownFields)
	if err != nil {
		return nil, fmt.Errorf("types of %s: %w", d.CRD.Name, err)
	}
	return apply.Ordered(types), nil
}

// defaulter sets the defaults of a version. It keeps nulls, which decoding drops (unstructuredDefaulter).
type defaulter struct{ definition *Definition }

// Default implements runtime.ObjectDefaulter.
func (d defaulter) Default(obj runtime.Object) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	structuraldefaulting.Default(u.UnstructuredContent(), d.definition.schemas[u.GroupVersionKind().Version])
}

// ConvertToVersion implements runtime.ObjectConvertor. The result shares nothing with in, whose version
// policies may have changed.
func (c customConvertor) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	kind := in.GetObjectKind().GroupVersionKind()
	to, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{kind})
	if !ok {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", kind, target)
	}
	if c.definition.Version(kind.Version) == nil {
		return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", kind.GroupVersion())
	}
	return c.definition.convert(in.DeepCopyObject(), to.GroupVersion())
}
