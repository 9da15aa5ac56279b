package settled

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Object is a Go object of the Kubernetes API, or nil. Objects have equal keys only if they have the same type and the
// same content; lists and maps that are empty differ from those that are not set.
type Object struct{ Value any }

// appendObject appends a unique encoding of an object. All values are written, in the order of the fields.
func appendObject(text []byte, o Object) ([]byte, error) {
	v := reflect.ValueOf(o.Value)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return append(text, 'n'), nil
	}
	text = appendString(append(text, 'o'), v.Type().String())
	return encoderOf(v.Type())(text, v)
}

// encoder appends a value of a type.
type encoder func(text []byte, v reflect.Value) ([]byte, error)

// encoders caches encoders by reflect.Type.
var encoders sync.Map

var marshaler = reflect.TypeFor[json.Marshaler]()

// encoderOf returns the encoder of a type, which may contain itself.
func encoderOf(t reflect.Type) encoder {
	if known, ok := encoders.Load(t); ok {
		return known.(encoder)
	}
	made := sync.OnceValue(func() encoder { return newEncoder(t) })
	encoders.LoadOrStore(t, encoder(func(text []byte, v reflect.Value) ([]byte, error) { return made()(text, v) }))
	real := made()
	encoders.Store(t, real)
	return real
}

func newEncoder(t reflect.Type) encoder {
	if t.Kind() != reflect.Pointer && (t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)) {
		return appendMarshaled
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(text []byte, v reflect.Value) ([]byte, error) {
			if v.Bool() {
				return append(text, 1), nil
			}
			return append(text, 0), nil
		}
	case reflect.String:
		return func(text []byte, v reflect.Value) ([]byte, error) { return appendString(text, v.String()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(text []byte, v reflect.Value) ([]byte, error) { return binary.AppendVarint(text, v.Int()), nil }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(text []byte, v reflect.Value) ([]byte, error) { return binary.AppendUvarint(text, v.Uint()), nil }
	case reflect.Float32, reflect.Float64:
		return func(text []byte, v reflect.Value) ([]byte, error) {
			return binary.LittleEndian.AppendUint64(text, math.Float64bits(v.Float())), nil
		}
	case reflect.Pointer:
		return pointerEncoder(encoderOf(t.Elem()))
	case reflect.Slice:
		return sliceEncoder(encoderOf(t.Elem()))
	case reflect.Map:
		if t == reflect.TypeFor[map[string]string]() {
			return appendStrings
		}
		return mapEncoder(encoderOf(t.Elem()))
	case reflect.Struct:
		return structEncoder(t)
	}
	return func([]byte, reflect.Value) ([]byte, error) { return nil, fmt.Errorf("no type of the API: %s", t) }
}

// appendMarshaled appends the JSON of a value whose type defines it, such as a quantity or a time.
func appendMarshaled(text []byte, v reflect.Value) ([]byte, error) {
	if v.CanAddr() {
		v = v.Addr() // some types define it for pointers
	} else if !v.Type().Implements(marshaler) {
		pointer := reflect.New(v.Type())
		pointer.Elem().Set(v)
		v = pointer
	}
	data, err := v.Interface().(json.Marshaler).MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", v.Type(), err)
	}
	return append(binary.AppendUvarint(text, uint64(len(data))), data...), nil
}

func pointerEncoder(of encoder) encoder {
	return func(text []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(text, 0), nil
		}
		return of(append(text, 1), v.Elem())
	}
}

func sliceEncoder(of encoder) encoder {
	return func(text []byte, v reflect.Value) (out []byte, err error) {
		if out = appendLen(text, v); v.IsNil() {
			return out, nil
		}
		for i := range v.Len() {
			if out, err = of(out, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// appendLen appends the length of a slice or map, which differs from that of nil.
func appendLen(text []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(text, 0)
	}
	return binary.AppendUvarint(text, uint64(v.Len())+1)
}

// mapEncoder returns the encoder of maps with strings as keys.
func mapEncoder(of encoder) encoder {
	return func(text []byte, v reflect.Value) (out []byte, err error) {
		out = appendLen(text, v)
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			if out, err = of(appendString(out, key.String()), v.MapIndex(key)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// appendStrings appends a map[string]string.
func appendStrings(text []byte, v reflect.Value) ([]byte, error) {
	values := v.Interface().(map[string]string)
	text = appendLen(text, v)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text = appendString(appendString(text, key), values[key])
	}
	return text, nil
}

func structEncoder(t reflect.Type) encoder {
	fields := make([]encoder, t.NumField())
	for i := range fields {
		fields[i] = encoderOf(t.Field(i).Type)
	}
	return func(text []byte, v reflect.Value) (out []byte, err error) {
		out = text
		for i, field := range fields {
			if out, err = field(out, v.Field(i)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}
