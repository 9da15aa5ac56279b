package custom

import (
	"fmt"
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/admission/builtin"
)

// Decode decodes a custom resource like the server: it coerces metadata, prunes unknown fields (with
// a warning) and sets defaults (k8s.io/apiextensions-apiserver/pkg/apiserver,
// unstructuredNegotiatedSerializer).
func (d *Definition) Decode(kind schema.GroupVersionKind, body []byte) (runtime.Object, []string, error) {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(body, &u.Object); err != nil {
		return nil, nil, builtin.DecodeError(err, &kind, kind)
	}
	unknown, err := d.coerce(u)
	if err != nil {
		return nil, nil, builtin.DecodeError(err, &kind, kind)
	}
	structuraldefaulting.Default(u.Object, d.schemas[kind.Version])
	warnings := make([]string, len(unknown))
	for i, path := range unknown {
		warnings[i] = fmt.Sprintf("unknown field %q", path)
	}
	return u, warnings, nil
}

// coerce drops the fields that the schema of the object's version does not have and returns their
// paths (unstructuredSchemaCoercer.apply).
func (d *Definition) coerce(u *unstructured.Unstructured) (unknown []string, err error) {
	apiVersion, kind := u.GetAPIVersion(), u.GetKind()
	meta, found, unknown, err := schemaobjectmeta.GetObjectMetaWithOptions(u.Object, schemaobjectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	s := d.schemas[u.GroupVersionKind().Version]
	if !d.CRD.Spec.PreserveUnknownFields {
		track := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
		unknown = append(unknown, structuralpruning.PruneWithOptions(u.Object, s, true, track)...)
		structuraldefaulting.PruneNonNullableNullsWithoutDefaults(u.Object, s)
	}
	fieldErr, paths := schemaobjectmeta.CoerceWithOptions(nil, u.Object, s, false, schemaobjectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if fieldErr != nil {
		return nil, fieldErr
	}
	unknown = append(unknown, paths...)
	u.SetKind(kind)
	u.SetAPIVersion(apiVersion)
	if found {
		err = schemaobjectmeta.SetObjectMeta(u.Object, meta)
	}
	return unknown, err
}

// Reread returns a custom resource as it is read from etcd: its metadata has no empty lists and maps
// (schemaobjectmeta.SetObjectMeta).
func Reread(obj runtime.Object) runtime.Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj
	}
	metadata, _ := u.Object["metadata"].(map[string]any)
	maps.DeleteFunc(metadata, func(_ string, value any) bool { return isEmpty(value) })
	return u
}

// isEmpty reports whether a value is an empty list or map.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// ConversionError is the error for a custom resource that only a webhook can convert; an offline API
// server has none.
type ConversionError struct{ Definition string }

func (e *ConversionError) Error() string {
	return fmt.Sprintf("versions of CustomResourceDefinition %s are converted by a webhook, which cannot be called offline", e.Definition)
}

// Read returns a stored custom resource in a version. A server stores it in the storage version: it
// loses fields that the schema of that version does not have and gets its defaults, also in a status
// that creation dropped. Then it loses fields that the version that is read does not have.
func (d *Definition) Read(obj runtime.Object, version schema.GroupVersion) (runtime.Object, error) {
	if d.byWebhook() && version.Version != d.storage && obj.GetObjectKind().GroupVersionKind().GroupVersion() == version {
		return obj, nil
	}
	stored, err := d.coerceTo(obj, schema.GroupVersion{Group: version.Group, Version: d.storage})
	if err != nil {
		return nil, err
	}
	if u, ok := stored.(*unstructured.Unstructured); ok {
		structuraldefaulting.Default(u.Object, d.schemas[d.storage])
	}
	return d.coerceTo(stored, version)
}

// coerceTo converts an object, and drops fields that the schema of the version does not have, or that
// are null in the metadata of an embedded resource, as a server does when it reads a stored object.
func (d *Definition) coerceTo(obj runtime.Object, version schema.GroupVersion) (runtime.Object, error) {
	converted, err := d.convert(obj, version)
	if err != nil {
		return nil, err
	}
	u, ok := converted.(*unstructured.Unstructured)
	if ok && (converted != obj || d.embedding[version.Version]) {
		_, err = d.coerce(u)
	}
	return converted, err
}

// byWebhook reports whether a webhook converts between versions.
func (d *Definition) byWebhook() bool {
	conversion := d.CRD.Spec.Conversion
	return conversion != nil && conversion.Strategy == apiextensionsv1.WebhookConverter
}

// convert returns a custom resource in another version. The strategy None only changes the
// apiVersion, so admission sees fields that the version does not have.
func (d *Definition) convert(obj runtime.Object, to schema.GroupVersion) (runtime.Object, error) {
	if obj.GetObjectKind().GroupVersionKind().GroupVersion() == to {
		return obj, nil
	}
	if d.byWebhook() {
		return nil, &ConversionError{Definition: d.CRD.Name}
	}
	u, ok := obj.DeepCopyObject().(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("unexpected type %T", obj)
	}
	u.SetAPIVersion(to.String())
	return u, nil
}

// Interfaces returns the interfaces that convert custom resources between the versions of their
// definition.
func (d *Definition) Interfaces(mapper runtime.EquivalentResourceMapper) admission.ObjectInterfaces {
	return customInterfaces{definition: d, mapper: mapper}
}

type customInterfaces struct {
	admission.ObjectInterfaces
	definition *Definition
	mapper     runtime.EquivalentResourceMapper
}

func (i customInterfaces) GetObjectCreater() runtime.ObjectCreater { return unstructuredCreater{} }
func (i customInterfaces) GetObjectTyper() runtime.ObjectTyper     { return unstructuredTyper{} }
func (i customInterfaces) GetObjectDefaulter() runtime.ObjectDefaulter {
	return defaulter{i.definition}
}
func (i customInterfaces) GetObjectConvertor() runtime.ObjectConvertor {
	return customConvertor{definition: i.definition}
}
func (i customInterfaces) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper {
	return i.mapper
}

// customConvertor implements the methods that admission.ConvertToGVK calls.
type customConvertor struct {
	runtime.ObjectConvertor
	definition *Definition
}

// Convert implements runtime.ObjectConvertor: the target version is that of out.
func (c customConvertor) Convert(in, out, _ any) error {
	from, ok := in.(*unstructured.Unstructured)
	to, ok2 := out.(*unstructured.Unstructured)
	if !ok || !ok2 {
		return fmt.Errorf("unexpected types %T and %T", in, out)
	}
	converted, err := c.ConvertToVersion(from, to.GroupVersionKind().GroupVersion())
	if err != nil {
		return err
	}
	to.Object = converted.(*unstructured.Unstructured).Object
	return nil
}

// unstructuredTyper returns the apiVersion and kind in an object.
type unstructuredTyper struct{}

func (unstructuredTyper) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	kind := obj.GetObjectKind().GroupVersionKind()
	if kind.Empty() {
		return nil, false, runtime.NewMissingKindErr("unstructured object has no kind")
	}
	return []schema.GroupVersionKind{kind}, false, nil
}

func (unstructuredTyper) Recognizes(schema.GroupVersionKind) bool { return true }

type unstructuredCreater struct{}

func (unstructuredCreater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}
