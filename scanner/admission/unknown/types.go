package unknown

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kind is the kind of values of a field.
type kind int

const (
	anything kind = iota
	text
	number
	decimal
	boolean
	object
	list
	bytes
	quantity
	numberOrText
	moment
	duration
)

// Type is the type of a field.
type Type struct {
	kind kind
	// values are the only allowed values of the field, if it has such.
	values []any
}

// Types returns the type of the field at a path.
type Types func(path []string) Type

// OfCustom returns the types of a custom resource with a schema, which may be nil.
func OfCustom(schema *structuralschema.Structural) Types {
	return func(path []string) Type {
		at := schema
		if len(path) > 0 && path[0] == "metadata" {
			return Of(reflect.TypeFor[metav1.PartialObjectMetadata](), nil)(path)
		}
		for _, step := range path {
			if at = below(at, step); at == nil {
				return Type{}
			}
		}
		return ofSchema(at)
	}
}

func below(s *structuralschema.Structural, step string) *structuralschema.Structural {
	if s == nil {
		return nil
	}
	if field, ok := s.Properties[step]; ok {
		return &field
	}
	if s.Items != nil {
		return s.Items
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

func ofSchema(s *structuralschema.Structural) Type {
	if s == nil {
		return Type{}
	}
	var t Type
	if s.ValueValidation != nil {
		for _, v := range s.ValueValidation.Enum {
			t.values = append(t.values, v.Object)
		}
	}
	switch {
	case s.XIntOrString:
		t.kind = numberOrText
	case s.Type == "string" && s.ValueValidation != nil && s.ValueValidation.Format == "date-time":
		t.kind = moment
	default:
		t.kind = map[string]kind{"string": text, "integer": number, "number": decimal, "boolean": boolean, "object": object, "array": list}[s.Type]
	}
	return t
}

// Of returns the types of the fields of a Go type of the API. values returns the only allowed values
// of a field of a struct, by the name of the struct's model; nil if it allows any.
func Of(t reflect.Type, values func(model, field string) []any) Types {
	return func(path []string) Type {
		at, out := t, Type{}
		for _, step := range path {
			at = dereferenced(at)
			out.values = nil
			switch {
			case isLeaf(at):
				return Type{}
			case at.Kind() == reflect.Struct:
				field, ok := fieldOf(at, step)
				if !ok {
					return Type{}
				}
				if named, ok := reflect.New(at).Interface().(interface{ OpenAPIModelName() string }); ok && values != nil {
					out.values = values(named.OpenAPIModelName(), step)
				}
				at = field
			case at.Kind() == reflect.Map:
				at = at.Elem()
			case at.Kind() == reflect.Slice:
				if _, err := strconv.Atoi(step); err != nil {
					return Type{}
				}
				at = at.Elem()
			default:
				return Type{}
			}
		}
		out.kind = kindOf(dereferenced(at))
		return out
	}
}

func dereferenced(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// fieldOf returns the type of the field of a struct by its JSON name.
func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name && name != "" {
			return f.Type, true
		}
		if tag == "" && (f.Anonymous || strings.Contains(options, "inline")) && dereferenced(f.Type).Kind() == reflect.Struct {
			if found, ok := fieldOf(dereferenced(f.Type), name); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// leaves are the Go types with their own JSON representation.
var leaves = map[reflect.Type]kind{
	reflect.TypeFor[resource.Quantity]():    quantity,
	reflect.TypeFor[intstr.IntOrString]():   numberOrText,
	reflect.TypeFor[metav1.Time]():          moment,
	reflect.TypeFor[metav1.MicroTime]():     moment,
	reflect.TypeFor[metav1.Duration]():      duration,
	reflect.TypeFor[metav1.FieldsV1]():      object,
	reflect.TypeFor[runtime.RawExtension](): object,
	reflect.TypeFor[apiextensionsv1.JSON](): anything,
	reflect.TypeFor[json.RawMessage]():      anything,
}

func isLeaf(t reflect.Type) bool { _, ok := leaves[t]; return ok }

func kindOf(t reflect.Type) kind {
	if k, ok := leaves[t]; ok {
		return k
	}
	switch t.Kind() {
	case reflect.String:
		return text
	case reflect.Bool:
		return boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return number
	case reflect.Float32, reflect.Float64:
		return decimal
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return bytes
		}
		return list
	case reflect.Struct, reflect.Map:
		return object
	}
	return anything
}
