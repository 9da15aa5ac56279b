package builtin

import (
	"encoding/json"
	"reflect"
	"sync"
)

// keepsAll reports whether the protobuf encoding of an object without apiVersion and kind keeps all of it. It loses the
// difference between a list or map that is empty and one that is not set, the form of a quantity that is not the
// canonical one, and fields that it does not have. The result may be false for an object of which all is kept.
func keepsAll(obj message) bool {
	v := reflect.ValueOf(obj).Elem()
	kept := checkOf(v.Type())
	return kept == nil || kept(v)
}

var (
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
	encodable   = reflect.TypeFor[encoding]()
)

// check reports whether the encoding keeps all of a value; it is nil for a type of which it always does.
type check func(v reflect.Value) bool

// checks caches checks by reflect.Type.
var checks sync.Map

// checkOf returns the check of a type, which may contain itself.
func checkOf(t reflect.Type) check {
	if known, ok := checks.Load(t); ok {
		return known.(check)
	}
	made := sync.OnceValue(func() check { return newCheck(t) })
	checks.LoadOrStore(t, check(func(v reflect.Value) bool { return made() == nil || made()(v) }))
	real := made()
	checks.Store(t, real)
	return real
}

func newCheck(t reflect.Type) check {
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(unmarshaler) {
		return checkEncoding // such as a quantity or a time, which need not have an encoding of all fields
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Float64:
		return nil
	case reflect.Pointer:
		return pointerCheck(checkOf(t.Elem()))
	case reflect.Slice:
		return sliceCheck(checkOf(t.Elem()))
	case reflect.Map:
		return mapCheck(t.Elem(), checkOf(t.Elem()))
	case reflect.Struct:
		return structCheck(t)
	}
	return func(reflect.Value) bool { return false }
}

// checkEncoding encodes and decodes a value.
func checkEncoding(v reflect.Value) bool {
	if !reflect.PointerTo(v.Type()).Implements(encodable) {
		return false
	}
	from, to := reflect.New(v.Type()), reflect.New(v.Type())
	from.Elem().Set(v) // encoding writes the text of a quantity into it
	data, err := from.Interface().(encoding).Marshal()
	if err != nil || to.Interface().(encoding).Unmarshal(data) != nil {
		return false
	}
	return reflect.DeepEqual(v.Interface(), to.Elem().Interface())
}

func pointerCheck(elem check) check {
	if elem == nil {
		return nil
	}
	return func(v reflect.Value) bool { return v.IsNil() || elem(v.Elem()) }
}

func sliceCheck(elem check) check {
	return func(v reflect.Value) bool {
		if v.Len() == 0 {
			return v.IsNil()
		}
		for i := 0; elem != nil && i < v.Len(); i++ {
			if !elem(v.Index(i)) {
				return false
			}
		}
		return true
	}
}

func mapCheck(t reflect.Type, elem check) check {
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		set := elem
		elem = func(v reflect.Value) bool { return !v.IsNil() && (set == nil || set(v)) }
	}
	return func(v reflect.Value) bool {
		if v.Len() == 0 {
			return v.IsNil()
		}
		if elem == nil {
			return true
		}
		for values := v.MapRange(); values.Next(); {
			if !elem(values.Value()) {
				return false
			}
		}
		return true
	}
}

func structCheck(t reflect.Type) check {
	fields := fieldChecks(t)
	kept := true
	for _, field := range fields {
		kept = kept && field == nil
	}
	if kept {
		return nil
	}
	return func(v reflect.Value) bool {
		for i, field := range fields {
			if field != nil && !field(v.Field(i)) {
				return false
			}
		}
		return true
	}
}

// fieldChecks returns the checks of the fields of a struct. One that the encoding does not have must not be set.
func fieldChecks(t reflect.Type) []check {
	fields := make([]check, t.NumField())
	for i := range fields {
		if tag := t.Field(i).Tag.Get("protobuf"); tag == "" || tag == "-" {
			fields[i] = reflect.Value.IsZero
			continue
		}
		fields[i] = checkOf(t.Field(i).Type)
	}
	return fields
}
