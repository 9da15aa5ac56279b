package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// file is a YAML document with the nodes of its fields, by which mistakes are
// located.
type file struct {
	path  string
	nodes map[string]*yaml.Node
	errs  []*Error
}

// decodeFile reads one YAML document strictly into the struct that into points to.
// The shape is checked on the nodes of one parser; values are those kubectl sees,
// of another (YAML 1.1 by way of JSON).
func decodeFile(path string, data []byte, into any) (*file, error) {
	f := &file{path: path, nodes: map[string]*yaml.Node{}}
	document, err := soleDocument(path, data)
	if err != nil {
		return f, err
	}
	// This parser refuses aliases that never end, or hardly ever.
	asJSON, err := sigsyaml.YAMLToJSON(data)
	if err != nil {
		return f, syntaxError(path, err, 0)
	}
	f.shape("", document, reflect.TypeOf(into).Elem())
	if len(f.errs) > 0 {
		return f, inOrder(f.errs)
	}
	if err := json.Unmarshal(asJSON, into); err != nil {
		return f, syntaxError(path, err, 0)
	}
	return f, nil
}

func soleDocument(path string, data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(string(data)))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, &Error{Path: path, Line: 1, Column: 1, Message: "the file is empty"}
	case err != nil:
		return nil, syntaxError(path, err, 0)
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, &Error{Path: path, Line: more.Line, Column: max(more.Column, 1), Message: "a second YAML document: the file is one"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(path, err, 0)
	}
	return document.Content[0], nil
}

func (f *file) failAt(n *yaml.Node, key, format string, args ...any) {
	f.errs = append(f.errs, &Error{
		Path: f.path, Line: n.Line, Column: n.Column, Key: key, Message: fmt.Sprintf(format, args...),
	})
}

// fail reports a mistake in the field key, at the nearest field that is written.
func (f *file) fail(key, format string, args ...any) {
	at := key
	for f.nodes[at] == nil && at != "" {
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	if n := f.nodes[at]; n != nil {
		f.failAt(n, key, format, args...)
	}
}

// line is where the field key is written, 0 when it is not.
func (f *file) line(key string) int {
	if n := f.nodes[key]; n != nil {
		return n.Line
	}
	return 0
}

// shape checks a node against the type it will be decoded into.
func (f *file) shape(key string, n *yaml.Node, t reflect.Type) {
	f.nodes[key] = n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.ShortTag() == "!!null" && isOptional(t) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		f.shape(key, n, t.Elem())
	case reflect.Struct:
		f.fields(key, n, t)
	case reflect.Slice:
		f.elements(key, n, t.Elem())
	case reflect.Map:
		f.entries(key, n, t.Elem())
	case reflect.Interface:
		f.unique(key, n)
	case reflect.String:
		f.scalar(key, n, "a string", "!!str")
	case reflect.Bool:
		f.scalar(key, n, "true or false", "!!bool")
	case reflect.Int32:
		f.scalar(key, n, "a number", "!!int")
	default:
		panic("suite: field " + key + " has a type without a shape: " + t.String())
	}
}

// isOptional: null is as good as nothing for what may be left out.
func isOptional(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map
}

func (f *file) scalar(key string, n *yaml.Node, want, tag string) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != tag || tag == "!!str" && isOldBool(n) {
		f.failAt(n, key, "want %s, not %s", want, describe(n))
	}
}

// isOldBool: a plain yes or off is a boolean to YAML 1.1, and so to kubectl.
func isOldBool(n *yaml.Node) bool {
	switch strings.ToLower(n.Value) {
	case "y", "n", "yes", "no", "on", "off":
		var v any
		err := sigsyaml.Unmarshal([]byte(n.Value), &v)
		_, isBool := v.(bool)
		return n.Style == 0 && err == nil && isBool
	}
	return false
}

func (f *file) elements(key string, n *yaml.Node, element reflect.Type) {
	if n.Kind != yaml.SequenceNode {
		f.failAt(n, key, "want a list, not %s", describe(n))
		return
	}
	for i, item := range n.Content {
		f.shape(fmt.Sprintf("%s[%d]", key, i), item, element)
	}
}

func (f *file) entries(key string, n *yaml.Node, element reflect.Type) {
	if n.Kind != yaml.MappingNode {
		f.failAt(n, key, "want a mapping, not %s", describe(n))
		return
	}
	f.unique(key, n)
	if element.Kind() == reflect.Interface {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f.shape(join(key, n.Content[i].Value), n.Content[i+1], element)
	}
}

// fields checks the fields of a struct. Merged mappings (<<) are taken as if they
// were written here.
func (f *file) fields(key string, n *yaml.Node, t reflect.Type) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		f.failAt(n, key, "want a mapping, not %s", describe(n))
		return
	}
	f.repeated(key, n)
	types, names := fieldTypes(t)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		field, known := types[name.Value]
		switch {
		case name.ShortTag() == "!!merge":
			f.merged(key, value, t)
		case !known:
			f.failAt(name, join(key, name.Value), "unknown key, known are %s", strings.Join(names, ", "))
		default:
			f.shape(join(key, name.Value), value, field)
		}
	}
}

func (f *file) merged(key string, n *yaml.Node, t reflect.Type) {
	if n.Kind != yaml.SequenceNode {
		f.fields(key, n, t)
		return
	}
	for _, item := range n.Content {
		f.fields(key, item, t)
	}
}

// fieldTypes gives the types of a struct's fields by their json names, and the
// names in order.
func fieldTypes(t reflect.Type) (map[string]reflect.Type, []string) {
	types := make(map[string]reflect.Type, t.NumField())
	var names []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			types[name] = t.Field(i).Type
			names = append(names, name)
		}
	}
	return types, names
}

// unique reports repeated keys at any depth of free-form content.
func (f *file) unique(key string, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		f.repeated(key, n)
	}
	for _, child := range n.Content {
		f.unique(key, child)
	}
}

func (f *file) repeated(key string, n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if line, repeated := first[name.Value]; repeated {
			f.failAt(name, join(key, name.Value), "repeated key, first on line %d", line)
			continue
		}
		first[name.Value] = name.Line
	}
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// describe names what a node is, in words for the author of the file.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	case n.ShortTag() == "!!str" && !isOldBool(n):
		return fmt.Sprintf("the string %q", n.Value)
	}
	return n.Value + ", which YAML does not take for that (quotes make a string)"
}

// UnmarshalJSON keeps whole numbers whole, as the API server does: into an any
// encoding/json decodes all numbers as floats.
func (r *Request) UnmarshalJSON(data []byte) error {
	type plain Request
	entry := struct {
		*plain
		Object    content `json:"object"`
		OldObject content `json:"oldObject"`
	}{plain: (*plain)(r)}
	if err := json.Unmarshal(data, &entry); err != nil {
		return err
	}
	r.Object, r.OldObject = entry.Object, entry.OldObject
	return nil
}

// content is an object as the API server decodes it.
type content map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	return utiljson.Unmarshal(data, (*map[string]any)(c))
}
