package strictyaml

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Decode fills the struct that into points to with settings, see the package comment.
// An empty document leaves it unchanged. It returns Err.
func (d *Document) Decode(into any) error {
	if !d.Empty() {
		(&decoder{Document: d}).value("", d.top, reflect.ValueOf(into).Elem())
	}
	return d.Err()
}

// DecodeManifest fills the value that into points to with the values that kubectl would send, see
// the package comment. A field of type any, or a map of any, accepts any content
// without repeated keys. An empty document leaves into unchanged. It returns Err.
func (d *Document) DecodeManifest(into any) error {
	if d.Empty() {
		return d.Err()
	}
	// This parser also rejects aliases with endless or excessive expansion.
	asJSON, err := sigsyaml.YAMLToJSON([]byte(d.withQuotedLetters()))
	if err != nil {
		return syntaxError(d.path, err, d.offset)
	}
	// The values that the check decodes are not used, since they follow YAML 1.2.
	unused := reflect.New(reflect.TypeOf(into).Elem())
	(&decoder{Document: d, manifest: true}).value("", d.top, unused.Elem())
	if err := d.Err(); err != nil {
		return err
	}
	if err := json.Unmarshal(asJSON, into); err != nil {
		return syntaxError(d.path, err, d.offset)
	}
	return nil
}

// decoder decodes the nodes of a document by the types of Go values. It records the position of
// each field, and its mistakes.
type decoder struct {
	*Document
	manifest bool
}

func (d *decoder) value(key string, n *yaml.Node, v reflect.Value) {
	d.fields[key] = n
	if n.Kind == yaml.AliasNode {
		if !d.manifest {
			d.failAt(n, key, "aliases are not supported here: write the value out")
			return
		}
		n = n.Alias
	}
	if d.manifest && n.ShortTag() == "!!null" && isOptional(v.Kind()) {
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
	case reflect.Map:
		d.entries(key, n, v)
	case reflect.Slice:
		d.sequence(key, n, v)
	default:
		d.scalar(key, n, v)
	}
}

// isOptional reports whether null means absent for a value of this kind.
func isOptional(k reflect.Kind) bool {
	return k == reflect.Pointer || k == reflect.Slice || k == reflect.Map
}

// text decodes a value of a type that has its own notation, with or without quotes.
func (d *decoder) text(key string, n *yaml.Node, into encoding.TextUnmarshaler) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		d.failAt(n, key, "want a value, not %s", d.describe(n))
		return
	}
	if err := into.UnmarshalText([]byte(n.Value)); err != nil {
		d.failAt(n, key, "%v", err)
	}
}

func (d *decoder) scalar(key string, n *yaml.Node, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if d.tag(n) != "!!str" {
			d.failAt(n, key, "want a string, not %s", d.describeUnquoted(n))
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if d.tag(n) != "!!bool" {
			d.failAt(n, key, "want true or false, not %s", d.describe(n))
			return
		}
		_ = n.Decode(v.Addr().Interface()) // a node with this tag decodes
	case reflect.Int, reflect.Int32, reflect.Int64:
		if d.tag(n) != "!!int" || n.Decode(v.Addr().Interface()) != nil {
			d.failAt(n, key, "want a whole number, not %s", d.describe(n))
		}
	default:
		panic("strictyaml: field " + key + " has a type that is not supported: " + v.Type().String())
	}
}

func (d *decoder) sequence(key string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.failAt(n, key, "want a list, not %s", d.describe(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(fmt.Sprintf("%s[%d]", key, i), item, v.Index(i))
	}
}

// entries decodes a map with string keys.
func (d *decoder) entries(key string, n *yaml.Node, v reflect.Value) {
	free := v.Type().Elem().Kind() == reflect.Interface
	if n.Kind != yaml.MappingNode {
		want := "a mapping"
		if free {
			want = "a Kubernetes object"
		}
		d.failAt(n, key, "want %s, not %s", want, d.describe(n))
		return
	}
	d.unique(key, n)
	if free {
		d.free(key, n, v)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		element := reflect.New(v.Type().Elem()).Elem()
		d.value(join(key, n.Content[i].Value), n.Content[i+1], element)
		v.SetMapIndex(reflect.ValueOf(n.Content[i].Value), element)
	}
}

// free decodes free content like kubectl. The values of a manifest are decoded elsewhere.
func (d *decoder) free(key string, n *yaml.Node, v reflect.Value) {
	if d.manifest {
		return
	}
	text, err := yaml.Marshal(n)
	if err == nil {
		err = sigsyaml.Unmarshal(text, v.Addr().Interface())
	}
	if err != nil {
		d.failAt(n, key, "%v", err)
	}
}

// mapping decodes a struct.
func (d *decoder) mapping(key string, n *yaml.Node, v reflect.Value) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		d.failAt(n, key, "want a mapping, not %s", d.describe(n))
		return
	}
	fields, names := structFields(v)
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		child := join(key, name.Value)
		field, known := fields[name.Value]
		switch line, repeated := first[name.Value]; {
		case repeated:
			d.failAt(name, child, "repeated key, first on line %d", line)
		case d.manifest && name.ShortTag() == "!!merge":
			first[name.Value] = d.offset + name.Line
			d.merged(key, value, v)
		case !known:
			d.failAt(name, child, "unknown key%s", Suggestion(name.Value, names))
		default:
			first[name.Value] = d.offset + name.Line
			d.value(child, value, field)
		}
	}
}

// merged decodes the mappings of a merge key (<<) as part of v.
func (d *decoder) merged(key string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.mapping(key, n, v)
		return
	}
	for _, item := range n.Content {
		d.mapping(key, item, v)
	}
}

// unique reports repeated keys at any depth of free content.
func (d *decoder) unique(key string, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		d.repeated(key, n)
	}
	for _, child := range n.Content {
		d.unique(key, child)
	}
}

func (d *decoder) repeated(key string, n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if line, repeated := first[name.Value]; repeated {
			d.failAt(name, join(key, name.Value), "repeated key, first on line %d", line)
			continue
		}
		first[name.Value] = d.offset + name.Line
	}
}

// structFields returns the fields of a struct by their json names, and the names in
// the order of the struct.
func structFields(v reflect.Value) (map[string]reflect.Value, []string) {
	fields := make(map[string]reflect.Value, v.NumField())
	for i := range v.NumField() {
		if name := jsonName(v.Type().Field(i)); name != "" {
			fields[name] = v.Field(i)
		}
	}
	return fields, FieldNames(v.Type())
}

// FieldNames returns the json names of the fields of a struct type, in order.
func FieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if name := jsonName(t.Field(i)); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" { // it is no field of the file
		return ""
	}
	return name
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}
