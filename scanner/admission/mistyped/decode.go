package mistyped

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
)

// undecoded returns the field that could not be decoded, according to a message that ends with a decoder's
// error: the only one that causes this error if the object has no other field. For JSON it is the first one,
// since fields of sent objects are sorted; other decoders iterate over maps in random order.
func undecoded(message string, object map[string]any, unknown []render.Unknown) (field string, ok bool) {
	if field, ok = undecodedJSON(message, object, unknown); ok {
		return field, true
	}
	var fields []string
	for _, decode := range decodersOf(object) {
		for _, f := range wrong(message, object, unknown, decode) {
			if !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
	}
	if len(fields) != 1 {
		return "", false
	}
	return fields[0], true
}

// readJSON matches the beginning of errors about decoding the JSON of an object
// (k8s.io/apiserver/pkg/endpoints/handlers, transformDecodeError; kubectl).
var readJSON = regexp.MustCompile(`^(?:\S+ in version "[^"]*" cannot be handled as a |unable to decode the manifest: )`)

func undecodedJSON(message string, object map[string]any, unknown []render.Unknown) (field string, ok bool) {
	if !readJSON.MatchString(message) {
		return "", false
	}
	for _, decode := range jsonDecodersOf(object) {
		if fields := wrong(message, object, unknown, decode); len(fields) > 0 {
			return fields[0], true
		}
	}
	return "", false
}

// decoder decodes the content of an object.
type decoder func(content map[string]any) error

// decodersOf returns the decoders of an object.
func decodersOf(object map[string]any) []decoder {
	decoders := jsonDecodersOf(object)
	if into := typeOf(object); into != nil {
		decoders = append(decoders, func(content map[string]any) error {
			return runtime.DefaultUnstructuredConverter.FromUnstructured(content, into())
		})
	}
	return decoders
}

// jsonDecodersOf returns the decoders of the JSON of an object: for its type, and for its metadata alone, as
// clients and servers of custom resources decode it.
func jsonDecodersOf(object map[string]any) []decoder {
	decoders := []decoder{
		func(content map[string]any) error {
			return decodeJSON(map[string]any{"metadata": content["metadata"]}, new(metav1.PartialObjectMetadata))
		},
		func(content map[string]any) error { return decodeJSON(content["metadata"], new(metav1.ObjectMeta)) },
	}
	if into := typeOf(object); into != nil {
		decoders = append(decoders, func(content map[string]any) error { return decodeJSON(content, into()) })
	}
	return decoders
}

func decodeJSON(content, into any) error {
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encode to decode again: %w", err)
	}
	return sigsjson.UnmarshalCaseSensitivePreserveInts(text, into)
}

// typeOf returns a constructor of empty objects of an object's kind; nil for a custom resource.
func typeOf(object map[string]any) func() any {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	scheme := builtin.CodecOf(gvk.Group).Scheme
	if !scheme.Recognizes(gvk) {
		return nil
	}
	return func() any {
		obj, err := scheme.New(gvk)
		if err != nil {
			panic(err) // it is recognized
		}
		return obj
	}
}

// wrong returns the smallest fields that a decoder refuses by themselves, with an error with which a message
// ends.
func wrong(message string, object map[string]any, unknown []render.Unknown, decode decoder) []string {
	s := search{message: message, unknown: unknown, decode: decode}
	s.in("", nil, object, func(value any) map[string]any { return value.(map[string]any) })
	return s.fields
}

type search struct {
	message string
	unknown []render.Unknown
	decode  decoder
	// fields are the fields found.
	fields []string
}

// in searches a field, and reports whether it is wrong. alone returns an object with only this field, set to
// a value.
func (s *search) in(field string, path []string, value any, alone func(value any) map[string]any) bool {
	if slices.ContainsFunc(s.unknown, func(u render.Unknown) bool { return slices.Equal(u.Path, path) }) {
		return false
	}
	err := s.decode(alone(value))
	if err == nil {
		return false
	}
	empty, isCollection := emptied(value)
	if isCollection && s.decode(alone(empty)) == nil && s.below(field, path, value, alone) {
		return true
	}
	if field != "" && strings.HasSuffix(s.message, err.Error()) {
		s.fields = append(s.fields, field)
	}
	return true
}

// emptied returns an empty map or list in place of a map or list.
func emptied(value any) (empty any, ok bool) {
	switch value.(type) {
	case map[string]any:
		return map[string]any{}, true
	case []any:
		return []any{}, true
	}
	return nil, false
}

// below searches the fields inside a field.
func (s *search) below(field string, path []string, value any, alone func(value any) map[string]any) (found bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			one := func(value any) map[string]any { return alone(map[string]any{key: value}) }
			found = s.in(origin.AppendKey(field, key), append(slices.Clip(path), key), v[key], one) || found
		}
	case []any:
		for i, item := range v {
			one := func(value any) map[string]any { return alone([]any{value}) }
			found = s.in(at(field, i), append(slices.Clip(path), strconv.Itoa(i)), item, one) || found
		}
	}
	return found
}
