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

// Decode takes an object through what the server does to a custom resource on
// arrival: metadata coerced, unknown fields pruned (and warned of), defaults set
// (k8s.io/apiextensions-apiserver/pkg/apiserver, unstructuredNegotiatedSerializer).
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

// coerce drops what the schema of the object's version does not know and returns
// the paths of what it dropped (unstructuredSchemaCoercer.apply).
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

// Reread returns a custom resource as it comes back from etcd: its metadata has no empty lists and
// maps (schemaobjectmeta.SetObjectMeta).
func Reread(obj runtime.Object) runtime.Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj
	}
	metadata, _ := u.Object["metadata"].(map[string]any)
	maps.DeleteFunc(metadata, func(_ string, value any) bool { return isEmpty(value) })
	return u
}

// isEmpty reports whether a value is a list or a map that has nothing in it.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// ConversionError says that a custom resource would have to be converted by a
// webhook, which an offline API server does not have.
type ConversionError struct{ Definition string }

func (e *ConversionError) Error() string {
	return fmt.Sprintf("versions of CustomResourceDefinition %s are converted by a webhook, which cannot be asked offline", e.Definition)
}

// Read returns a custom resource, once it is stored, in a version. A server keeps it in
// the storage version, so it loses what the schema of that version does not know and
// has its defaults, also for a status that its creation dropped; then it loses what the
// version that is read does not know.
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

// coerceTo converts, and drops what the schema of the version does not know, or what is null in the
// metadata of an embedded resource: a server reads that when it reads what is stored.
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

// convert returns a custom resource in another version. Strategy None changes the
// apiVersion only; admission sees fields that the version does not know.
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

// Interfaces returns what converts custom resources between the versions of their
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

// customConvertor implements what admission.ConvertToGVK needs of a convertor.
type customConvertor struct {
	runtime.ObjectConvertor
	definition *Definition
}

// Convert implements runtime.ObjectConvertor: the kind of out has the version.
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

// unstructuredTyper returns the kind that an object states.
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
