package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/report"
)

var schemaFile = filepath.Join("..", "..", "docs", "config.schema.json")

// TestSchemaFields keeps the published schema in step with the structs.
func TestSchemaFields(t *testing.T) {
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct {
			Properties map[string]any
			Required   []string
		} `json:"$defs"`
	}
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	compare := func(what string, properties map[string]any, of reflect.Type) {
		var want, got []string
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			want = append(want, name)
		}
		for name := range properties {
			got = append(got, name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-struct +schema):\n%s", what, diff)
		}
	}
	compare("configuration", schema.Properties, reflect.TypeFor[Config]())
	compare("target", schema.Defs["target"].Properties, reflect.TypeFor[Target]())
	compare("artifacts", schema.Defs["artifacts"].Properties, reflect.TypeFor[Artifacts]())
	compare("crds", schema.Defs["crds"].Properties, reflect.TypeFor[CRDSource]())
	compare("charts", schema.Defs["charts"].Properties, reflect.TypeFor[Chart]())
	compare("user", schema.Defs["user"].Properties, reflect.TypeFor[User]())
	enum := func(name string) (values []string) {
		for _, v := range schema.Properties[name].(map[string]any)["enum"].([]any) {
			values = append(values, v.(string))
		}
		return values
	}
	if diff := cmp.Diff(report.FailOnValues(), enum("failOn")); diff != "" {
		t.Errorf("failOn (-code +schema):\n%s", diff)
	}
	if diff := cmp.Diff(Appliers(), enum("applier")); diff != "" {
		t.Errorf("applier (-code +schema):\n%s", diff)
	}
	if diff := cmp.Diff(LoadRestrictors(), enum("loadRestrictor")); diff != "" {
		t.Errorf("loadRestrictor (-code +schema):\n%s", diff)
	}
}

// TestSchemaAgrees checks that the schema and Parse agree on the same files.
func TestSchemaAgrees(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, in string
		valid    bool
	}{
		{"least", header, true},
		{"most", header + `failOn: never
loadRestrictor: LoadRestrictionsRootOnly
roots: ['**']
policies: [p]
context: [c]
user: {name: u, groups: [g]}
workloads: false
targets: [{name: t, roots: ['*'], policies: [p], context: [c], user: {name: u}}]
`, true},
		{"no kind", "apiVersion: preadmit.dev/v1alpha1\n", false},
		{"unknown key", header + "failon: deny\n", false},
		{"failOn", header + "failOn: denied\n", false},
		{"workloads", header + "workloads: 1\n", false},
		{"root", header + "roots: [/abs]\n", false},
		{"empty path", header + "policies: ['']\n", false},
		{"nameless user", header + "user: {groups: [g]}\n", false},
		{"CRDs", header + "crds: [{file: 'https://h/a.yaml'}, {git: 'https://h/a', ref: b, path: c}, {chart: a, repository: 'oci://h/b', version: 1.x}]\n", true},
		{"charts", header + "charts: [{path: charts/a, release: b, namespace: c, values: [d.yaml], set: {e: [1]}}, {path: charts/a}]\n", true},
		{"charts without a path", header + "charts: [{release: b}]\n", false},
		{"CRDs of nothing", header + "crds: [{}]\n", false},
		{"CRDs of two", header + "crds: [{file: 'https://h/a.yaml', git: 'https://h/a'}]\n", false},
		{"CRDs of a chart without repository", header + "crds: [{chart: a}]\n", false},
		{"CRDs of a file at a ref", header + "crds: [{file: 'https://h/a.yaml', ref: b}]\n", false},
		{"CRDs of a repository with a version", header + "crds: [{git: 'https://h/a', version: b}]\n", false},
		{"CRDs without encryption", header + "crds: [{file: 'http://h/a.yaml'}]\n", false},
		{"rootless target", header + "targets: [{name: t}]\n", false},
		{"nameless target", header + "targets: [{name: '', roots: [a]}]\n", false},
		{"unknown target key", header + "targets: [{name: t, roots: [a], root: b}]\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Parse("c.yaml", []byte(test.in)); (err == nil) != test.valid {
				t.Errorf("Parse: %v, want valid %v", err, test.valid)
			}
			if err := validateYAML(t, schema, []byte(test.in)); (err == nil) != test.valid {
				t.Errorf("schema: %v, want valid %v", err, test.valid)
			}
		})
	}
}

// TestDocumentation parses every example of the documentation.
func TestDocumentation(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(data, -1)
	if len(examples) == 0 {
		t.Error("docs/config.md has no example")
	}
	for _, example := range examples {
		if _, err := Parse("docs/config.md", example[1]); err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
		if err := validateYAML(t, schema, example[1]); err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
	}
}

func validateYAML(t *testing.T, schema *jsonschema.Schema, data []byte) error {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(instance)
}
