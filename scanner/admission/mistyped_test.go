package admission_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/mistyped"
)

const (
	untypedPatch  = "failed to create typed patch object (shop/a; apps/v1, Kind=Deployment): "
	undecodedBody = `Deployment in version "v1" cannot be handled as a Deployment: `
)

// TestMistypedFields: a message is about the fields that it names, or about the only field that can
// cause it.
func TestMistypedFields(t *testing.T) {
	for name, test := range map[string]struct {
		spec, message string
		unknown       []string
		want          []string
	}{
		"several are named": {
			`{"replicas": "1", "paused": "no"}`, untypedPatch + "errors:\n  .spec.paused: expected boolean, got &{no}\n  .spec.replicas: expected numeric (int or float), got string",
			nil, []string{"spec.paused", "spec.replicas"},
		},
		"dots in names": {
			`{"selector": {"matchLabels": {"a.b/c": 1, "a": "x"}}}`, untypedPatch + ".spec.selector.matchLabels.a.b/c: expected string, got &value.valueUnstructured{Value:1}",
			nil, []string{"spec.selector.matchLabels[a.b/c]"},
		},
		"dots that may be either": {
			`{"a": {"b.c": {"d": 1}, "b": {"c.d": 1}}}`, untypedPatch + ".spec.a.b.c.d: expected string, got &value.valueUnstructured{Value:1}",
			nil, nil,
		},
		"keys with defaults and brackets": {
			`{"list": [{"port": 1, "name": "x"}, {"port": 1, "protocol": "U]DP", "name": 2}]}`, untypedPatch + `.spec.list[port=1,protocol="U]DP"].name: expected string, got &value.valueUnstructured{Value:2}`,
			nil, []string{"spec.list[1].name"},
		},
		"the default of a key": {
			`{"list": [{"port": 1, "name": 2}, {"port": 1, "protocol": "UDP", "name": "x"}]}`, untypedPatch + `.spec.list[port=1,protocol="TCP"].name: expected string, got &value.valueUnstructured{Value:2}`,
			nil, []string{"spec.list[0].name"},
		},
		"the second of a key": {
			`{"list": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}`, untypedPatch + `.spec.list: duplicate entries for key [name="a"]`,
			nil, []string{"spec.list[2]"},
		},
		"the second of a set": {
			`{"set": ["a", "b", "b"]}`, untypedPatch + `.spec.set: duplicate entries for key [="b"]`,
			nil, []string{"spec.set[2]"},
		},
		"an element": {
			`{"list": [{"name": "a"}, "b"]}`, untypedPatch + `.spec.list: element 1: associative list with keys may not have non-map elements`,
			nil, []string{"spec.list[1]"},
		},
		"strict decoding": {
			`{"a": 1, "b": 1}`, undecodedBody + `strict decoding error: unknown field "spec.a", unknown field "spec.b"`,
			nil, []string{"spec.a", "spec.b"},
		},
		"the first of the JSON": {
			`{"selector": {"matchLabels": {"b": 1, "a": 2}}}`, undecodedBody + "json: cannot unmarshal number into Go struct field LabelSelector.spec.selector.matchLabels of type string",
			nil, []string{"spec.selector.matchLabels.a"},
		},
		"any of several": {
			`{"selector": {"matchLabels": {"b": 1, "a": 2}}}`, ` "" is invalid: patch: Invalid value: "map[]": cannot convert int64 to string`,
			nil, nil,
		},
		"one of several": {
			`{"replicas": 1.5, "selector": {"matchLabels": {"b": 1}}}`, ` "" is invalid: patch: Invalid value: "map[]": cannot convert int64 to string`,
			nil, []string{"spec.selector.matchLabels.b"},
		},
		"not known": {
			`{"selector": {"matchLabels": {"b": 1, "a": 2}}}`, ` "" is invalid: patch: Invalid value: "map[]": cannot convert int64 to string`,
			[]string{"spec", "selector", "matchLabels", "a"}, []string{"spec.selector.matchLabels.b"},
		},
		"something else": {
			`{"replicas": "1"}`, `namespaces "shop" not found`, nil, nil,
		},
		"without the key of a list": {
			`{"template": {"spec": {"containers": [{"name": "a", "image": "b"}, {"image": "b"}]}}}`, "creating patch: map: map[image:b] does not contain declared merge key: name",
			nil, []string{"spec.template.spec.containers[1]"},
		},
		"no map in a list of maps": {
			`{"template": {"spec": {"containers": [{"name": "a"}, null]}}}`, "creating patch: list element types are not identical: [[map[image:c name:a]] [map[name:a] <nil>]]",
			nil, []string{"spec.template.spec.containers[1]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var object map[string]any
			if err := json.Unmarshal([]byte(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "shop"}, "spec": `+test.spec+`}`), &object); err != nil {
				t.Fatal(err)
			}
			integers(object)
			var unknown []render.Unknown
			if test.unknown != nil {
				unknown = []render.Unknown{{Path: test.unknown}}
			}
			if got := mistyped.Fields(test.message, object, unknown); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// integers converts the whole numbers in a value to integers.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}
