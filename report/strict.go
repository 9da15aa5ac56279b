package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// maxFieldErrors bounds the number of errors reported for one document.
const maxFieldErrors = 100

// unmarshalStrict is json.Unmarshal, but returns an error for fields that the type does not
// have (names are case-sensitive) and for fields that occur twice in one object.
func unmarshalStrict(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	c := &fieldChecker{decoder: json.NewDecoder(bytes.NewReader(data))}
	c.value(reflect.TypeOf(into), "")
	return errors.Join(c.errs...)
}

// fieldChecker walks a document along a type and collects unknown and repeated fields. Its
// decoder cannot fail: the document was decoded before.
type fieldChecker struct {
	decoder *json.Decoder
	errs    []error
}

// value checks the next value of the document; t is nil for the value of an unknown field.
func (c *fieldChecker) value(t reflect.Type, path string) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() == reflect.Interface {
		_ = c.decoder.Decode(new(json.RawMessage))
		return
	}
	token, _ := c.decoder.Token()
	switch token {
	case json.Delim('{'):
		c.object(t, path)
	case json.Delim('['):
		for i := 0; c.decoder.More(); i++ {
			c.value(t.Elem(), path+"["+strconv.Itoa(i)+"]")
		}
		_, _ = c.decoder.Token()
	}
}

// object checks the fields of an object, which is a struct or a map.
func (c *fieldChecker) object(t reflect.Type, path string) {
	count := map[string]int{}
	for c.decoder.More() {
		token, _ := c.decoder.Token()
		name, _ := token.(string)
		field := name
		if path != "" {
			field = path + "." + name
		}
		fieldType, known := typeOfField(t, name)
		switch count[name]++; {
		case !known && count[name] == 1:
			c.fail("unknown", field)
		case known && count[name] == 2:
			c.fail("duplicate", field)
		}
		c.value(fieldType, field)
	}
	_, _ = c.decoder.Token()
}

// typeOfField returns the type of a field by its JSON name.
func typeOfField(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name && tag != "-" {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}

func (c *fieldChecker) fail(what, field string) {
	if len(c.errs) < maxFieldErrors {
		c.errs = append(c.errs, fmt.Errorf("%s field %q", what, field))
	}
}
