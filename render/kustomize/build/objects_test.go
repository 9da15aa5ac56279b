package build

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// TestTextsAreThoseOfKustomize compares texts in the styles of YAML with what kustomize prints.
func TestTextsAreThoseOfKustomize(t *testing.T) {
	styles := map[string]string{
		"folded":                        ">\n    a\n    b\n",
		"folded, more indented":         ">\n    [\n      a\n    ]\n",
		"folded, more indented, strip":  ">-\n    [\n      a\n    ]\n",
		"folded, paragraphs":            ">-\n    a\n\n    b\n\n\n    c\n",
		"folded, kept lines at the end": ">+\n    a\n\n\n",
		"folded, an indented first":     ">2\n      a\n    b\n",
		"literal":                       "|\n    [\n      a\n    ]\n",
		"literal, kept lines":           "|+\n    a\n\n\n",
		"literal, a tab":                "|\n    a\n    \tb\n",
		"quoted, a tab":                 "\"\\ta\\nb\"\n",
		"quoted, lines":                 "\"a\\n\\n  b\\n\"\n",
		"single quoted, a paragraph":    "'a\n\n    b'\n",
		"plain, lines":                  "a\n    b\n",
	}
	for name, text := range styles {
		t.Run(name, func(t *testing.T) {
			fsys := filesys.MakeFsInMemory()
			write := func(name, content string) {
				if err := fsys.WriteFile(name, []byte(content)); err != nil {
					t.Fatal(err)
				}
			}
			write("kustomization.yaml", "resources: [m.yaml]\n")
			write("m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  text: "+text)
			built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fsys, ".")
			if err != nil {
				t.Fatal(err)
			}
			printed, err := built.AsYaml()
			if err != nil {
				t.Fatal(err)
			}
			objects, err := Objects(built)
			if err != nil {
				t.Fatal(err)
			}
			var got, want map[string]any
			if err := json.Unmarshal(objects[0].JSON, &got); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(printed, &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, kustomize prints %v\n%s", got["data"], want["data"], strings.TrimSpace(string(printed)))
			}
		})
	}
}
