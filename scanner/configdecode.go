package scanner

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configDecoder fills structs from YAML nodes by their json tags, and keeps the
// node of every field so that a later check can point at it.
type configDecoder struct {
	path  string
	nodes map[string]*yaml.Node
	errs  []*ConfigError
}

func (d *configDecoder) failAt(n *yaml.Node, key, format string, args ...any) {
	d.errs = append(d.errs, &ConfigError{
		Path: d.path, Line: n.Line, Column: n.Column, Key: key, Message: fmt.Sprintf(format, args...),
	})
}

// fail reports a mistake in the field key, at the nearest field that is written.
func (d *configDecoder) fail(key, format string, args ...any) {
	at := key
	for d.nodes[at] == nil && at != "" {
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	if n := d.nodes[at]; n != nil {
		d.failAt(n, key, format, args...)
	}
}

func (d *configDecoder) decode(key string, n *yaml.Node, into any) {
	d.value(key, n, reflect.ValueOf(into).Elem())
}

func (d *configDecoder) value(key string, n *yaml.Node, v reflect.Value) {
	d.nodes[key] = n
	if n.Kind == yaml.AliasNode {
		d.failAt(n, key, "aliases are not supported here: write the value out")
		return
	}
	if text, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.text(key, n, text)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(key, n, v.Elem())
	case reflect.Struct:
		d.mapping(key, n, v)
	case reflect.Slice:
		d.sequence(key, n, v)
	case reflect.String:
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			d.failAt(n, key, "want a string, not %s", describe(n))
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
			d.failAt(n, key, "want true or false")
			return
		}
		// A node of that tag decodes.
		_ = n.Decode(v.Addr().Interface())
	case reflect.Int, reflect.Int64:
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(v.Addr().Interface()) != nil {
			d.failAt(n, key, "want a whole number, not %s", describe(n))
		}
	default:
		panic("scanner: configuration field " + key + " has a type the decoder does not know: " + v.Type().String())
	}
}

// text reads a value that knows itself how it is written, with or without quotes.
func (d *configDecoder) text(key string, n *yaml.Node, into encoding.TextUnmarshaler) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		d.failAt(n, key, "want a value, not %s", describe(n))
		return
	}
	if err := into.UnmarshalText([]byte(n.Value)); err != nil {
		d.failAt(n, key, "%v", err)
	}
}

func (d *configDecoder) mapping(key string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.failAt(n, key, "want a mapping, not %s", describe(n))
		return
	}
	fields, names := configFields(v)
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		child := join(key, name.Value)
		field, known := fields[name.Value]
		switch line, repeated := first[name.Value]; {
		case !known:
			d.failAt(name, child, "unknown key%s", suggestion(name.Value, names))
			continue
		case repeated:
			d.failAt(name, child, "repeated key, first on line %d", line)
			continue
		}
		first[name.Value] = name.Line
		d.value(child, value, field)
	}
}

func (d *configDecoder) sequence(key string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.failAt(n, key, "want a list, not %s", describe(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(fmt.Sprintf("%s[%d]", key, i), item, v.Index(i))
	}
}

// configFields gives the fields of a struct by their json names, and the names in
// the order of the struct.
func configFields(v reflect.Value) (map[string]reflect.Value, []string) {
	fields := make(map[string]reflect.Value, v.NumField())
	names := make([]string, 0, v.NumField())
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = v.Field(i)
		names = append(names, name)
	}
	return fields, names
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// describe names what a node is, in words for the author of the file.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the boolean " + n.Value + " (quote it)"
	case "!!int", "!!float":
		return "the number " + n.Value + " (quote it)"
	case "!!str":
		return fmt.Sprintf("the string %q", n.Value)
	}
	return "a " + strings.TrimPrefix(n.ShortTag(), "!!") + " (quote it)"
}
