package apply

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Ordered returns a converter whose errors are deterministic. A server iterates over the fields of an
// object in random order and stops at the first that its schema does not have; here they are sorted
// by name.
func Ordered(c managedfields.TypeConverter) managedfields.TypeConverter { return orderedTypes{c} }

type orderedTypes struct{ managedfields.TypeConverter }

// ObjectToTyped implements managedfields.TypeConverter.
func (c orderedTypes) ObjectToTyped(obj runtime.Object, opts ...smd.ValidationOptions) (*smd.TypedValue, error) {
	v, err := c.TypeConverter.ObjectToTyped(obj, opts...)
	content, ok := obj.(*unstructured.Unstructured)
	if !ok || !errors.As(err, new(smd.ValidationErrors)) {
		return v, err
	}
	empty := &unstructured.Unstructured{}
	empty.SetGroupVersionKind(content.GroupVersionKind())
	kind, notTyped := c.TypeConverter.ObjectToTyped(empty)
	if notTyped != nil {
		return v, err
	}
	return smd.AsTyped(orderedValue{value.NewValueInterface(content.Object)}, kind.Schema(), kind.TypeRef(), opts...)
}

// orderedValue is a value whose maps are sorted by key.
type orderedValue struct{ value.Value }

func (v orderedValue) AsMap() value.Map { return orderedMap{v.Value.AsMap()} }

func (v orderedValue) AsMapUsing(a value.Allocator) value.Map {
	return orderedMap{v.Value.AsMapUsing(a)}
}

func (v orderedValue) AsList() value.List { return orderedList{v.Value.AsList()} }

func (v orderedValue) AsListUsing(a value.Allocator) value.List {
	return orderedList{v.Value.AsListUsing(a)}
}

// Format implements fmt.Formatter: errors contain the value itself.
func (v orderedValue) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), v.Value)
}

type orderedList struct{ value.List }

func (l orderedList) At(i int) value.Value { return orderedValue{l.List.At(i)} }

func (l orderedList) AtUsing(a value.Allocator, i int) value.Value {
	return orderedValue{l.List.AtUsing(a, i)}
}

type orderedMap struct{ value.Map }

func (m orderedMap) Iterate(visit func(string, value.Value) bool) bool {
	return m.IterateUsing(value.HeapAllocator, visit)
}

func (m orderedMap) IterateUsing(_ value.Allocator, visit func(string, value.Value) bool) bool {
	all := map[string]value.Value{}
	m.Map.Iterate(func(key string, v value.Value) bool {
		all[key] = value.NewValueInterface(v.Unstructured()) // the iteration reuses v
		return true
	})
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !visit(key, orderedValue{all[key]}) {
			return false
		}
	}
	return true
}
