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

// Model has the parts of the FieldManager of a kind.
type Model struct {
	Kind      schema.GroupVersionKind
	Hub       schema.GroupVersion
	Types     managedfields.TypeConverter
	Convertor runtime.ObjectConvertor
	Defaulter runtime.ObjectDefaulter
	// Reset are the fields that have no manager.
	Reset map[fieldpath.APIVersion]fieldpath.Filter
}

// Applied is a manifest that a tool applies on the server, in a version of its kind, as the only manager of
// the object's fields. It is safe for concurrent use.
type Applied struct {
	model  Model
	value  *smd.TypedValue
	fields *fieldpath.Set
	// last is the manifest from which Like derived this one, nil for none.
	last *Applied
	// written is set for a manifest as written, for which fields is nil. by is its applier.
	written bool
	by      Applier
}

// Applied returns a manifest as a tool applies it. It is nil if Apply may do more than Over, or refuses the
// manifest.
func (f *Fields) Applied(manifest map[string]any, by Applier) *Applied {
	u := &unstructured.Unstructured{Object: manifest}
	if !isSoleManager(by, u) || u.GroupVersionKind() != f.Kind {
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
	return &Applied{model: f.Model, value: typed, fields: set, by: by}
}

// Like returns a manifest as the tool applies it after a, if it certainly has the same fields: only values of
// scalars differ, and no keys of list items. It is nil if that is not certain.
func (a *Applied) Like(manifest map[string]any) *Applied {
	if a == nil {
		return nil
	}
	if a.written {
		manifest = sent(manifest, a.by)
	}
	if !a.alike(a.value.TypeRef(), a.manifest(), manifest) {
		return nil
	}
	like := *a
	like.value, like.last = smd.AsTypedUnvalidated(value.NewValueInterface(manifest), a.value.Schema(), a.value.TypeRef()), a
	return &like
}

// IsWritten reports whether the manifest is from Written.
func (a *Applied) IsWritten() bool { return a.written }

// Follows reports whether a manifest is the one that its tool applied last, or was derived from it by Like.
func (a *Applied) Follows(last *Applied) bool { return a == last || a.last == last }

// manifest returns the content, which must not be modified.
func (a *Applied) manifest() map[string]any {
	content, _ := a.value.AsValue().Unstructured().(map[string]any)
	return content
}

// alike reports whether two values of a type certainly have the same fields, and are valid if one is.
func (a *Applied) alike(of smdschema.TypeRef, last, now any) bool {
	atom, ok := a.value.Schema().Resolve(of)
	switch l := last.(type) {
	case map[string]any:
		n, isMap := now.(map[string]any)
		if !ok || !isMap || atom.Map == nil || len(l) != len(n) {
			return false
		}
		for key, item := range l {
			other, has := n[key]
			identity := key == "apiVersion" || key == "kind"
			if !has || identity && !reflect.DeepEqual(item, other) || !a.alike(fieldType(atom.Map, key), item, other) {
				return false
			}
		}
		return true
	case []any:
		n, isList := now.([]any)
		if !ok || !isList || atom.List == nil || len(l) != len(n) {
			return false
		}
		for i, item := range l {
			if !sameItem(atom.List, item, n[i]) || !a.alike(atom.List.ElementType, item, n[i]) {
				return false
			}
		}
		return true
	}
	return last == now || last != nil && reflect.TypeOf(last) == reflect.TypeOf(now)
}

// sameItem reports whether a list treats two items as the same: by their keys, or by their values.
func sameItem(list *smdschema.List, item, other any) bool {
	if list.ElementRelationship == smdschema.Atomic {
		return true
	}
	i, isMap := item.(map[string]any)
	o, otherIsMap := other.(map[string]any)
	if len(list.Keys) == 0 || !isMap || !otherIsMap {
		return reflect.DeepEqual(item, other)
	}
	return !slices.ContainsFunc(list.Keys, func(key string) bool { return !reflect.DeepEqual(i[key], o[key]) })
}

// fieldType returns the type of a field of a map.
func fieldType(of *smdschema.Map, name string) smdschema.TypeRef {
	if field, ok := of.FindField(name); ok {
		return field.Type
	}
	return of.ElementType
}

// isSoleManager reports whether the tool that applies a manifest is the only manager of its fields, and
// changes nothing else: kubectl updates an existing last-applied annotation.
func isSoleManager(by Applier, manifest *unstructured.Unstructured) bool {
	_, hasManagers, _ := unstructured.NestedFieldNoCopy(manifest.Object, "metadata", "managedFields")
	_, isAnnotated := manifest.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	return !hasManagers && (by != KubectlSSA || !isAnnotated)
}

// Renews reports whether a manifest has all fields of the one that its tool applied last, some of them
// outside of the metadata, so that the tool is certainly their manager. Then applying it has the result of
// Over.
func (a *Applied) Renews(last *Applied) bool {
	return a != nil && last != nil && ownsMore(last.fields) && (a.Follows(last) || last.fields.Difference(a.fields).Empty())
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

// Again returns the same object as Over for an object that is the result of applying the same manifest or the
// one that it is Like, if the object certainly has all its values: merging keeps the items and fields that
// both have, and the others of the object. Only creationTimestamp is null in the manifests of Flux; the
// server sets it again. Reading an object in a version and writing it in that version does not change it.
// content is that of the object in the version of the manifest.
func (a *Applied) Again(live runtime.Object, content map[string]any) (obj runtime.Object, ok bool) {
	manifest := a.manifest()
	metadata, _ := manifest["metadata"].(map[string]any)
	time, has := metadata["creationTimestamp"]
	isNull := has && time == nil || a.written && a.by == Flux && !isUnchanged(a.model.Kind)
	if isNull && has {
		of, _ := content["metadata"].(map[string]any)
		content, of = maps.Clone(content), maps.Clone(of)
		delete(of, "creationTimestamp")
		content["metadata"] = of
	}
	last := manifest
	if a.last != nil {
		last = a.last.manifest()
	}
	if !a.has(a.value.TypeRef(), content, last) {
		return nil, false
	}
	if a.last != nil {
		if merged := runtime.DeepCopyJSON(content); replace(merged, last, manifest) {
			if isNull {
				unstructured.RemoveNestedField(merged, "metadata", "creationTimestamp")
			}
			obj, err := a.read(&unstructured.Unstructured{Object: merged})
			return obj, err == nil
		}
	}
	obj = live.DeepCopyObject()
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, false
	}
	m.SetManagedFields(nil)
	if isNull {
		m.SetCreationTimestamp(metav1.Time{})
		if u, custom := obj.(*unstructured.Unstructured); custom {
			_ = unstructured.SetNestedField(u.Object, nil, "metadata", "creationTimestamp") // metadata is a map
		}
	}
	return obj, true
}

// replace sets the scalars of a value, which has all of last, to those of now, which is alike, and reports
// whether any differed.
func replace(value, last, now any) (changed bool) {
	switch n := now.(type) {
	case map[string]any:
		v, l := value.(map[string]any), last.(map[string]any)
		for key, item := range n {
			switch item.(type) {
			case map[string]any, []any:
				changed = replace(v[key], l[key], item) || changed
			default:
				if item != l[key] {
					v[key], changed = item, true
				}
			}
		}
	case []any:
		v, l := value.([]any), last.([]any)
		for i, item := range n {
			switch item.(type) {
			case map[string]any, []any:
				changed = replace(v[i], l[i], item) || changed
			default:
				if item != l[i] {
					v[i], changed = item, true
				}
			}
		}
	}
	return changed
}

// has reports whether a value of a type contains another one. Values that are not granular must be equal.
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
			if there, ok := v[key]; !(ok || key == "creationTimestamp" && item == nil) || !a.has(fieldType(atom.Map, key), there, item) {
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

// hasKeys reports whether an item of a list has all key fields.
func hasKeys(item any, keys []string) bool {
	m, _ := item.(map[string]any)
	return !slices.ContainsFunc(keys, func(key string) bool { return m[key] == nil })
}

// Has reports whether an object has all fields of another one, comparing items of lists by position.
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

// Over returns the result of applying a manifest that Renews the last one to an object that is the result of
// applying the last one, without managed fields.
//
// It returns the object that Apply returns. Apply (structured-merge-diff, Updater.Apply) merges the manifest
// into the object, prunes the result, compares it with the sets of other managers, and returns the object
// itself if nothing differs. There is no other manager to conflict with, so only pruning could differ. It
// removes fields that the tool managed and nobody manages now: of the fields of last, first those that are
// not in the set of the manifest (addBackOwnedItems), except those that are not of last
// (addBackDanglingItems). If the manifest has all fields of last, there are none, and removing nothing from a
// map returns it (TypedValue.RemoveItems).
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
	return a.read(obj)
}

// read returns the internal form of an object in the version of the manifest, with defaults.
func (a *Applied) read(obj runtime.Object) (runtime.Object, error) {
	versioned, err := a.model.Convertor.ConvertToVersion(obj, a.model.Kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	a.model.Defaulter.Default(versioned)
	return a.model.Convertor.ConvertToVersion(versioned, a.model.Hub)
}
