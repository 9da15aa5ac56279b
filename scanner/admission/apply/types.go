package apply

import (
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	openapiutil "k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generated "k8s.io/kubernetes/pkg/generated/openapi"
)

// Types has the types of a scheme's kinds for server-side apply, like the server
// (k8s.io/apiserver/pkg/server, getOpenAPIModels).
type Types struct {
	scheme *runtime.Scheme
	config func() *common.OpenAPIV3Config

	mu     sync.Mutex
	groups map[string]managedfields.TypeConverter
}

// NewTypes returns the types of a scheme.
func NewTypes(scheme *runtime.Scheme) *Types {
	t := &Types{scheme: scheme, groups: map[string]managedfields.TypeConverter{}}
	t.config = sync.OnceValue(func() *common.OpenAPIV3Config {
		namer := openapi.NewDefinitionNamer(scheme)
		return &common.OpenAPIV3Config{
			GetDefinitionName: namer.GetDefinitionName,
			Definitions: generated.GetOpenAPIDefinitions(func(name string) spec.Ref {
				named, _ := namer.GetDefinitionName(name)
				return spec.MustCreateRef("#/components/schemas/" + common.EscapeJsonPointer(named))
			}),
		}
	})
	return t
}

// Group returns the types of an API group, in all its versions.
func (t *Types) Group(group string) (managedfields.TypeConverter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.groups[group]; ok {
		return c, nil
	}
	config := t.config()
	var names []string
	for kind := range t.scheme.AllKnownTypes() {
		if kind.Group != group || kind.Version == runtime.APIVersionInternal {
			continue
		}
		sample, err := t.scheme.New(kind)
		if err != nil {
			return nil, fmt.Errorf("make a %s: %w", kind.Kind, err)
		}
		if name := openapiutil.GetCanonicalTypeName(sample); config.Definitions[name].Schema.Type != nil {
			names = append(names, name)
		}
	}
	models, err := builder3.BuildOpenAPIDefinitionsForResources(config, names...)
	if err != nil {
		return nil, fmt.Errorf("types of %s: %w", group, err)
	}
	c, err := managedfields.NewTypeConverter(models, false)
	if err != nil {
		return nil, fmt.Errorf("types of %s: %w", group, err)
	}
	t.groups[group] = Ordered(c)
	return t.groups[group], nil
}

// Fields manages the fields of the objects of a kind.
type Fields struct {
	*managedfields.FieldManager
	Model
	// Create returns an empty object.
	Create func() (runtime.Object, error)
}

// Apply applies a manifest to an object, or creates one if live is nil, as the server does. A refusal
// is an *apierrors.StatusError.
func (f *Fields) Apply(live runtime.Object, manifest map[string]any, by Applier) (runtime.Object, error) {
	if live == nil {
		var err error
		if live, err = f.Create(); err != nil {
			return nil, err
		}
	} else {
		live = live.DeepCopyObject()
	}
	obj, err := f.FieldManager.Apply(live, &unstructured.Unstructured{Object: manifest}, by.Manager(), by.Forces())
	var refusal *apierrors.StatusError
	if err == nil || errors.As(err, &refusal) {
		return obj, err
	}
	return nil, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: err.Error()}}
}

// Known returns a manifest without the fields that its kind does not have. decoded is the manifest as
// the server decodes it.
func (f *Fields) Known(manifest map[string]any, decoded runtime.Object) map[string]any {
	if custom, ok := decoded.(*unstructured.Unstructured); ok {
		return within(manifest, custom.Object)
	}
	sample, err := f.Create()
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(manifest, sample)
	}
	if err != nil {
		return manifest // applying it returns the error
	}
	typed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(sample)
	if err != nil {
		return manifest
	}
	return within(manifest, typed)
}

// within returns the fields of a manifest that another object has too, with the manifest's values.
func within(manifest, other map[string]any) map[string]any {
	kept := make(map[string]any, len(manifest))
	for key, value := range manifest {
		if has, ok := other[key]; ok {
			kept[key] = itemsWithin(value, has)
		}
	}
	return kept
}

func itemsWithin(value, other any) any {
	switch v := value.(type) {
	case map[string]any:
		if o, ok := other.(map[string]any); ok {
			return within(v, o)
		}
	case []any:
		o, ok := other.([]any)
		if !ok || len(o) != len(v) {
			return value
		}
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = itemsWithin(v[i], o[i])
		}
		return kept
	}
	return value
}
