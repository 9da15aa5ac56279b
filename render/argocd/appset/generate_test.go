package appset_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/argocd/appset"
)

// TestOddPatches checks that a templatePatch that leaves no Application is an error of it.
func TestOddPatches(t *testing.T) {
	for patch, want := range map[string]string{
		"metadata: null":                      "the Application has no metadata",
		"metadata: x":                         "the Application has no metadata",
		"metadata: {$patch: delete}":          "the Application has no metadata",
		"$retainKeys: [spec]":                 "the Application has no metadata",
		"[]":                                  "cannot unmarshal array",
		"metadata: {labels: {a: b}, x: null}": "",
	} {
		object, err := json.Marshal(map[string]any{
			"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": map[string]any{"name": "a", "namespace": "argocd"},
			"spec": map[string]any{
				"goTemplate": true, "generators": []any{map[string]any{"list": map[string]any{"elements": []any{map[string]any{"a": "b"}}}}}, "templatePatch": patch,
				"template": map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{
					"project": "default", "source": map[string]any{"repoURL": "https://example.com/r", "path": "app"}, "destination": map[string]any{"namespace": "x"},
				}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = appset.Generate(t.Context(), object, appset.Input{})
		if failure := new(appset.Error); want == "" && err != nil || want != "" && (!errors.As(err, &failure) || failure.Field != "spec.templatePatch" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", patch, err, want)
		}
	}
}

// TestEmptyParameters checks that generators may return no parameters at all, as for null in a list.
func TestEmptyParameters(t *testing.T) {
	const two = `[{list: {elementsYaml: "[null]"}}, {list: {elementsYaml: "[{b: c}]"}}]`
	for generator, want := range map[string]string{
		"matrix: {generators: " + two + "}":                "x-c",
		"merge: {mergeKeys: [k], generators: " + two + "}": "x-c",
		"list: {elements: [null]}":                         "x-{{b}}",
		"pullRequest: {values: {b: d}}":                    "x-{{b}}",
	} {
		object, err := yaml.YAMLToJSON([]byte("apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\nspec:\n  generators: [{" + generator +
			"}]\n  template: {metadata: {name: 'x-{{b}}'}, spec: {project: default, source: {repoURL: https://example.com/r, path: app}, destination: {namespace: x}}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		made, err := appset.Generate(t.Context(), object, appset.Input{Given: func(string) ([]map[string]any, bool) { return []map[string]any{nil}, true }})
		if err != nil || len(made) != 1 || !strings.Contains(string(made[0].Object), `"name":"`+want+`"`) {
			t.Errorf("%s: %v, %+v", generator, err, made)
		}
	}
}

// TestLimits checks that what templates may cost is limited for all Applications of a set together.
func TestLimits(t *testing.T) {
	for text, want := range map[string]string{
		`{{range until 20000}}{{end}}`:                         "limit of 1000000 steps",
		`{{range until 9}}{{$x := repeat 4000000 "a"}}{{end}}`: "limit of 1073741824 bytes",
	} {
		object, err := yaml.YAMLToJSON([]byte("apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\nspec:\n  goTemplate: true\n" +
			"  generators: [{list: {elements: [" + strings.Repeat("{a: b},", 100) + "]}}]\n" +
			"  template: {metadata: {name: x, labels: {a: '" + text + "'}}, spec: {project: default, source: {repoURL: https://example.com/r, path: app}, destination: {namespace: x}}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := appset.Generate(t.Context(), object, appset.Input{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
