package apply

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Model is what a FieldManager of a kind is made of.
type Model struct {
	Kind      schema.GroupVersionKind
	Hub       schema.GroupVersion
	Types     managedfields.TypeConverter
	Convertor runtime.ObjectConvertor
	Defaulter runtime.ObjectDefaulter
	// Reset are the fields that nobody owns.
	Reset map[fieldpath.APIVersion]fieldpath.Filter
}

// Applied is a manifest that a tool applies on the server, in a version of its kind, where the tool alone manages
// the fields of the object. It is safe for concurrent use.
type Applied struct {
	model  Model
	value  *smd.TypedValue
	fields *fieldpath.Set
}

// Applied returns a manifest as a tool applies it. It is nil where Apply may do more than Over, or refuses the
// manifest.
func (f *Fields) Applied(manifest map[string]any, by Applier) *Applied {
	u := &unstructured.Unstructured{Object: manifest}
	if !alone(by, u) || u.GroupVersionKind() != f.Kind {
		return nil
	}
	typed, err := f.Types.ObjectToTyped(u)
	if err != nil {
		return nil
	}
	set, err := typed.ToFieldSet()
	if err != nil {
		return nil
	}
	if filter := f.Reset[fieldpath.APIVersion(f.Kind.GroupVersion().String())]; filter != nil {
		set = filter.Filter(set)
	}
	return &Applied{f.Model, typed, set}
}

// alone reports whether the tool that applies a manifest is the only manager of its fields, and changes
// nothing else: kubectl keeps an annotation up to date that it finds.
func alone(by Applier, manifest *unstructured.Unstructured) bool {
	_, hasManagers, _ := unstructured.NestedFieldNoCopy(manifest.Object, "metadata", "managedFields")
	_, isAnnotated := manifest.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	return !hasManagers && (by != KubectlSSA || !isAnnotated)
}

// Renews reports whether a manifest has all fields of the one that its tool applied last, which are some outside of
// the metadata, so that the tool is certainly their manager. Then Over is all that applying it does.
func (a *Applied) Renews(last *Applied) bool {
	return a != nil && last != nil && ownsMore(last.fields) && (a == last || last.fields.Difference(a.fields).Empty())
}

// ownsMore reports whether a set has fields outside of the metadata.
func ownsMore(set *fieldpath.Set) (more bool) {
	look := func(e fieldpath.PathElement) {
		more = more || e.FieldName != nil && !slices.Contains([]string{"apiVersion", "kind", "metadata"}, *e.FieldName)
	}
	set.Members.Iterate(look)
	set.Children.Iterate(look)
	return more
}

// Again returns what Over gives over an object that came of applying the same manifest, where the object certainly
// has all of it: merging returns what both have, item for item and field for field, and else what is there already.
// Only the time of creation is null in what Flux sends, which the server then sets again. What is read in a version
// and written in it is the same object.
// content is that of the object in the version of the manifest.
func (a *Applied) Again(live runtime.Object, content map[string]any) (obj runtime.Object, ok bool) {
	obj = live.DeepCopyObject()
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, false
	}
	m.SetManagedFields(nil)
	manifest, _ := a.value.AsValue().Unstructured().(map[string]any)
	metadata, _ := manifest["metadata"].(map[string]any)
	if time, ok := metadata["creationTimestamp"]; ok && time == nil {
		m.SetCreationTimestamp(metav1.Time{})
		if u, custom := obj.(*unstructured.Unstructured); custom {
			_ = unstructured.SetNestedField(u.Object, nil, "metadata", "creationTimestamp") // metadata is a map
		}
		of, _ := content["metadata"].(map[string]any)
		content, of = maps.Clone(content), maps.Clone(of)
		delete(of, "creationTimestamp")
		content["metadata"] = of
	}
	return obj, a.has(a.value.TypeRef(), content, manifest)
}

// has reports whether a value of a type has all of another one. Of what is not granular it is the same.
func (a *Applied) has(of smdschema.TypeRef, value, other any) bool {
	atom, ok := a.value.Schema().Resolve(of)
	if !ok {
		return false
	}
	switch o := other.(type) {
	case map[string]any:
		v, isMap := value.(map[string]any)
		if !isMap || atom.Map == nil || atom.Map.ElementRelationship == smdschema.Atomic {
			break
		}
		for key, item := range o {
			in := atom.Map.ElementType
			if field, ok := atom.Map.FindField(key); ok {
				in = field.Type
			}
			if there, ok := v[key]; !(ok || key == "creationTimestamp" && item == nil) || !a.has(in, there, item) {
				return false
			}
		}
		return true
	case []any:
		v, isList := value.([]any)
		if !isList || atom.List == nil || atom.List.ElementRelationship == smdschema.Atomic || len(o) != len(v) {
			break
		}
		for i, item := range o {
			if !hasKeys(item, atom.List.Keys) || !a.has(atom.List.ElementType, v[i], item) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(value, other)
}

// hasKeys reports whether an item of a list has all fields that tell it from others.
func hasKeys(item any, keys []string) bool {
	m, _ := item.(map[string]any)
	return !slices.ContainsFunc(keys, func(key string) bool { return m[key] == nil })
}

// Has reports whether an object has all fields of another one, items of lists being those at the same place.
func Has(content, other map[string]any) bool { return has(content, other) }

func has(value, other any) bool {
	switch o := other.(type) {
	case map[string]any:
		v, ok := value.(map[string]any)
		for key, item := range o {
			there, is := v[key]
			if !is || !has(there, item) {
				return false
			}
		}
		return ok
	case []any:
		v, ok := value.([]any)
		if !ok || len(v) != len(o) {
			return false
		}
		for i := range o {
			if !has(v[i], o[i]) {
				return false
			}
		}
	}
	return true
}

// Over returns what applying a manifest that Renews the last one gives over an object that came of applying that
// one, without managers of fields.
//
// It gives the object that Apply gives. What Apply does (structured-merge-diff, Updater.Apply) is to merge the
// manifest into the object, to prune the result, to compare it with the sets of other managers, and to return
// the object itself where nothing differs. There is no other manager to conflict with, so only pruning could
// differ. It removes what the tool had and nobody has now: of the fields of last, first those that are not in the
// set of the manifest (addBackOwnedItems), of which those stay that are not of last (addBackDanglingItems).
// Where the manifest has all of last, that is nothing, and to remove nothing from a map returns it
// (TypedValue.RemoveItems).
func (a *Applied) Over(live runtime.Object) (runtime.Object, error) {
	live = live.DeepCopyObject()
	m, err := meta.Accessor(live)
	if err != nil {
		return nil, err
	}
	m.SetManagedFields(nil)
	version := a.model.Kind.GroupVersion()
	versioned, err := a.model.Convertor.ConvertToVersion(live, version)
	if err != nil {
		return nil, err
	}
	was, err := a.model.Types.ObjectToTyped(versioned, smd.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	merged, err := was.Merge(a.value)
	if err != nil {
		return nil, err
	}
	if value.EqualsUsing(value.NewFreelistAllocator(), was.AsValue(), merged.AsValue()) {
		return live, nil
	}
	obj, err := a.model.Types.TypedToObject(merged)
	if err != nil {
		return nil, err
	}
	if versioned, err = a.model.Convertor.ConvertToVersion(obj, version); err != nil {
		return nil, err
	}
	a.model.Defaulter.Default(versioned)
	return a.model.Convertor.ConvertToVersion(versioned, a.model.Hub)
}
