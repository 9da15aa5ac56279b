package values_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/tree"
)

// TestMerge checks Flux's order of values; the cases with target paths are results of Flux's own code.
func TestMerge(t *testing.T) {
	from := func(text string) values.Reference { return values.Reference{Name: "ConfigMap a", Data: []byte(text)} }
	at := func(path, value string) values.Reference {
		return values.Reference{Name: "Secret b", Data: []byte(value), TargetPath: path}
	}
	literal := func(path, value string) values.Reference {
		return values.Reference{Data: []byte(value), TargetPath: path, Literal: true}
	}
	for _, test := range []struct {
		name       string
		references []values.Reference
		inline     string
		want       string
	}{
		{"inline last", []values.Reference{from("a: 1\nb: {c: 1, d: 1}"), from("b: {c: 2}")}, "b: {d: 3}", `{"a":1,"b":{"c":2,"d":3}}`},
		{"lists are replaced", []values.Reference{from("a: [1, 2]")}, "a: [3]", `{"a":[3]}`},
		{"scalar over mapping", []values.Reference{from("a: {b: 1}")}, "a: 1", `{"a":1}`},
		{"null stays", []values.Reference{from("a: {b: 1}")}, "a: null", `{"a":null}`},
		{"target path in a mapping of inline values", []values.Reference{at("a.b", "2")}, "a: {b: 1, c: 1}", `{"a":{"b":2,"c":1}}`},
		{"target path at the top", []values.Reference{at("a", "2")}, "a: 1", `{"a":1}`},
		{"target path that only it has", []values.Reference{at("a.b[0].c", "x")}, "", `{"a":{"b":[{"c":"x"}]}}`},
		{"target path takes numbers", []values.Reference{at("a", "1")}, "", `{"a":1}`},
		{"quotes make strings", []values.Reference{at("a", `"1"`), at("b", `'true'`)}, "", `{"a":"1","b":"true"}`},
		{"several values", []values.Reference{at("a", "1,b=2")}, "", `{"a":1,"b":2}`},
		{"literal", []values.Reference{literal("a", "1,b={2}[3]")}, "", `{"a":"1,b={2}[3]"}`},
		{"dots in a key", []values.Reference{literal(`a\.yml.b`, "x")}, "", `{"a.yml":{"b":"x"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var inline map[string]any
			if err := sigsyaml.Unmarshal([]byte(test.inline), &inline); err != nil {
				t.Fatal(err)
			}
			got, err := values.Merge(test.references, inline)
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := json.Marshal(got); string(text) != test.want {
				t.Errorf("merged %s, want %s", text, test.want)
			}
		})
	}
	if _, err := values.Merge([]values.Reference{from("- a")}, nil); err == nil || !strings.Contains(err.Error(), "ConfigMap a does not hold values") {
		t.Errorf("error %v", err)
	}
}

// TestCheck checks that schemas are read only from the chart.
func TestCheck(t *testing.T) {
	for _, test := range []struct{ name, schema, invalid, unchecked string }{
		{"valid", `{"properties": {"a": {"type": "integer"}}}`, "", ""},
		{"invalid", `{"properties": {"a": {"type": "string"}}}`, "got number, want string", ""},
		{"inside", `{"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"type": "string"}}}`, "want string", ""},
		{"network", `{"properties": {"a": {"$ref": "https://example.com/x.json"}}}`, "", "refers to https://example.com/x.json"},
		{"file", `{"$ref": "file:///etc/passwd"}`, "", "refers to file:///etc/passwd"},
		{"relative", `{"$ref": "../x.json"}`, "", "refers to file:///x.json"},
		{"first of several", `{"properties": {"a": {"$ref": "x.json"}, "b": {"$ref": "a.json#/x"}, "c": {"$ref": "y.json"}, "d": {"allOf": [{"$ref": "z.json"}]}, "e": {"$ref": "#/f"}}, "f": {}}`, "", "refers to file:///a.json,"},
		{"other base", `{"$id": "https://example.com/a/b.json", "properties": {"a": {"$ref": "x.json"}}}`, "", "refers to https://example.com/a/x.json"},
		{"first of several of another base", `{"$id": "https://example.com/a/b.json", "properties": {"a": {"$ref": "x.json"}, "b": {"$ref": "a.json#/x"}, "c": {"$ref": "y.json"}, "d": {"$ref": "z.json"}, "e": {"$ref": "#/f"}}, "f": {}}`, "", "refers to https://example.com/a/a.json,"},
		{"own $id in a draft without $id", `{"$schema": "http://json-schema.org/draft-04/schema#", "$id": "https://example.com/x.json", "properties": {"a": {"$ref": "https://example.com/x.json#/q"}, "b": {"$ref": "#/c"}}, "c": {}}`, "", "refers to https://example.com/x.json"},
		{"urn", `{"$ref": "urn:x"}`, "", "refers to urn:x"},
		{"draft", `{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"type": "string"}}}`, "want string", ""},
		{"no JSON", `{`, "app", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys := fstest.MapFS{
				"Chart.yaml":         {Data: []byte("{apiVersion: v2, name: app, version: 1.0.0}")},
				"values.schema.json": {Data: []byte(test.schema)},
			}
			c, err := chart.FromTree(tree.New(fsys, tree.Limits{}), ".", chart.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			v := values.NewSchemas().Check(c, map[string]any{"a": 1.0})
			if (v.Invalid == "") != (test.invalid == "") || !strings.Contains(v.Invalid, test.invalid) {
				t.Errorf("invalid: %q, want %q", v.Invalid, test.invalid)
			}
			if got := strings.Join(v.Unchecked, ""); (got == "") != (test.unchecked == "") || !strings.Contains(got, test.unchecked) {
				t.Errorf("unchecked: %q, want %q", got, test.unchecked)
			}
		})
	}
}
