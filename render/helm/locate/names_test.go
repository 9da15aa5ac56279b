package locate_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// manyTemplate makes an object for each key of a map, with a container for each key of another map.
const manyTemplate = `{{ range $name, $of := .Values.controllers }}---
apiVersion: v1
kind: Pod
metadata: {name: "app-{{ $name }}-main"}
spec:
  containers:
  {{- range $container, $with := $of.containers }}
  - name: {{ $container }}
    image: {{ $with.image }}
  {{- end }}
{{ end }}`

// TestNamedLeaf checks that if more values are equally likely than may be tried, that of the object and the
// container is tried.
func TestNamedLeaf(t *testing.T) {
	controllers := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		containers := map[string]any{}
		for _, container := range []string{"one", "three", "two"} {
			containers[container] = map[string]any{"image": "example.com/web:1"}
		}
		controllers[name] = map[string]any{"containers": containers}
	}
	c, err := chart.FromTree(tree.New(fstest.MapFS{
		"Chart.yaml":       {Data: []byte("{apiVersion: v2, name: app, version: 1.0.0}")},
		"templates/a.yaml": {Data: []byte(manyTemplate)},
	}, tree.Limits{}), ".", chart.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	capabilities, err := values.Capabilities("", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &release.Release{
		Chart: release.NewChart(c), Values: map[string]any{"controllers": controllers}, Capabilities: capabilities,
		Release: values.Release{Name: "app", Namespace: "shop"},
	}
	rendered, err := r.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tracer := locate.New(t.Context(), locate.Traced{
		Release: r, Objects: rendered.Objects, Chart: rendered.Chart,
		Written: func(l *locate.Leaf) (origin.Place, bool) {
			return origin.Place{Position: tree.Position{Path: locate.FieldOf("", l.Path), Line: 1}, Evidence: origin.Marked}, true
		},
	})
	for i, o := range rendered.Objects {
		content := o.Document.Content()
		name, _ := origin.Field(content, "metadata.name")
		controller := strings.Split(name.(string), "-")[1]
		for j, container := range []string{"one", "three", "two"} {
			field := "spec.containers[" + string(rune('0'+j)) + "].image"
			value, _ := origin.Field(content, field)
			want := "controllers." + controller + ".containers." + container + ".image"
			if place := tracer.Place(i, field, origin.Whole, value, true); strings.TrimPrefix(place.Path, ".") != want || place.Evidence != origin.Marked {
				t.Errorf("%s of %s: at %s (%s), evidence %d, want %s", field, name, place.Path, place.Why, place.Evidence, want)
			}
		}
	}
}
