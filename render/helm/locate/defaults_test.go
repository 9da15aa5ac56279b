package locate_test

import (
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// TestDefaultsOfDependencies checks which default is reported as deciding a field, for a chart that is not in
// the tree: the chart's value for its dependency, else the dependency's own, by the dependency's name there.
func TestDefaultsOfDependencies(t *testing.T) {
	fsys := fstest.MapFS{}
	for name, text := range map[string]string{
		"Chart.yaml":                     "{apiVersion: v2, name: app, version: 1.0.0, dependencies: [{name: part, version: 1.0.0, alias: own}]}",
		"values.yaml":                    "own:\n  replicas: 2\n",
		"charts/part/Chart.yaml":         "{apiVersion: v2, name: part, version: 1.0.0}",
		"charts/part/values.yaml":        "replicas: 1\nargs:\n- one\n- two\ntier: front\n",
		"charts/part/templates/app.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {tier: {{ .Values.tier }}}}\nspec:\n  replicas: {{ .Values.replicas }}\n  args: {{ toJson .Values.args }}\n",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := chart.FromTree(tree.New(fsys, tree.Limits{}), ".", chart.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	capabilities, err := values.Capabilities("", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &release.Release{
		Chart: release.NewChart(c), Values: map[string]any{"own": map[string]any{"tier": "back"}}, Capabilities: capabilities,
		Template: true, Release: values.Release{Name: "app", Namespace: "shop"},
	}
	rendered, err := r.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tracer := locate.New(t.Context(), locate.Traced{
		Release: r, Objects: rendered.Objects, Chart: rendered.Chart, Name: "chart app 1.0.0", Named: tree.Position{Path: "app.yaml", Line: 1},
		Written: func(l *locate.Leaf) (origin.Place, bool) {
			return origin.Place{Position: tree.Position{Path: "app.yaml", Line: 2}, Evidence: origin.Marked}, !l.Default
		},
	})
	for _, test := range []struct {
		field string
		value any
		line  int
		why   string
	}{
		{"spec.replicas", int64(2), 1, "it is made by chart app 1.0.0 charts/own/templates/app.yaml:5 <- values.yaml:2 (default)"},
		{"spec.args[1]", "two", 1, "it is made by chart app 1.0.0 charts/own/templates/app.yaml:6 <- charts/own/values.yaml:4 (default)"},
		{"metadata.labels[tier]", "back", 2, ""},
	} {
		place := tracer.Place(0, test.field, origin.Whole, test.value, true)
		if place.Line != test.line || place.Why != test.why {
			t.Errorf("%s is on line %d, %q; want line %d, %q", test.field, place.Line, place.Why, test.line, test.why)
		}
	}
}
