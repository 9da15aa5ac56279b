package origin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestFieldPath(t *testing.T) {
	text := "metadata:\n  labels:\n    app.kubernetes.io/name: web\n    \"0\": zero\n    a]b: odd\nspec:\n  list:\n  - - deep\n  - x: y\n"
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"metadata.labels[app.kubernetes.io/name]":     "web",
		`metadata.labels["app.kubernetes.io/name"]`:   "web",
		"metadata.labels['app.kubernetes.io/name']":   "web",
		"metadata.labels.app.kubernetes.io/name":      "web",
		".metadata.labels.app.kubernetes.io/name":     "web",
		"[metadata][labels][app.kubernetes.io/name]":  "web",
		"metadata.labels[0]":                          "zero",
		`metadata.labels["a]b"]`:                      "odd",
		"spec.list[0][0]":                             "deep",
		"spec.list[1].x":                              "y",
		"spec.list[2].x":                              "",
		"spec.list[-1]":                               "",
		"spec.list.x":                                 "",
		"metadata.labels[":                            "",
		"metadata.labels.app.kubernetes.io/name.more": "",
	} {
		hops, complete := Descend(doc.Content[0], ParsePath(path))
		got := ""
		if complete && len(hops) > 0 {
			got = hops[len(hops)-1].Value.Value
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	steps := ParsePath("metadata.labels.app.kubernetes.io/name.more")
	hops, _ := Descend(doc.Content[0], steps)
	var keys []string
	for _, s := range Canonical(hops, steps) {
		keys = append(keys, s.Key)
	}
	if diff := cmp.Diff([]string{"metadata", "labels", "app.kubernetes.io/name", "more"}, keys); diff != "" {
		t.Error(diff)
	}
}
