package appset_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

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
