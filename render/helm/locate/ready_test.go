package locate

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/tree"
)

// comparison counts the leaves whose other values were compared, and those for which the prepared release was
// used.
type comparison struct{ leaves, ready int }

// compare compares the input of a release's templates with other values of so many of its leaves, prepared
// once and prepared anew.
func (n *comparison) compare(t *testing.T, name string, c *helmchart.Chart, user map[string]any, leaves int) {
	t.Helper()
	tracer := New(t.Context(), Traced{Chart: c, Release: releaseOf(t, c, user)})
	for i := 0; i < len(tracer.leaves); i += max(1, len(tracer.leaves)/leaves) {
		l := tracer.leaves[i]
		for _, value := range l.others() {
			n.leaves++
			r, ok := tracer.ready.With(l.Path, l.Value, value, l.Default)
			if !ok {
				continue
			}
			n.ready++
			before := seen(t, tracer.ready.Release())
			got, want := seen(t, r), seen(t, tracer.rebuilt(l, value))
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: templates do not see the same with %v at %v", name, value, l.Path)
			}
			if reflect.DeepEqual(got, before) {
				t.Fatalf("%s: templates do not see %v at %v", name, value, l.Path)
			}
		}
	}
}

// seenBy is the input of a release's templates, and its charts.
type seenBy struct {
	all    any
	charts []string
}

func seen(t *testing.T, r *release.Release) seenBy {
	t.Helper()
	c, all, err := r.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	return seenBy{all, chartsOf(c)}
}

func chartsOf(c *helmchart.Chart) []string {
	names := []string{c.ChartFullPath()}
	for _, d := range c.Dependencies() {
		names = append(names, chartsOf(d)...)
	}
	slices.Sort(names)
	return names
}

// TestReady compares the prepared release with one that is prepared anew for each value. Values with further
// effects are always prepared anew.
func TestReady(t *testing.T) {
	const chartOf = "{apiVersion: v2, version: 1.0.0, name: "
	part := map[string]string{"charts/part/Chart.yaml": chartOf + "part}", "charts/part/values.yaml": "a: 1\nlist: [1, {b: 2}]\nout: {c: 3}\nglobal: {d: 4}\n"}
	for name, test := range map[string]struct {
		files         map[string]string
		user          map[string]any
		leaves, ready int
	}{
		"values":         {files: map[string]string{"Chart.yaml": chartOf + "app}", "values.yaml": "a: 1\nb: {c: x, d: [1, {e: f}]}\nn: null\n"}, leaves: 17, ready: 14},
		"of the user":    {files: map[string]string{"Chart.yaml": chartOf + "app}", "values.yaml": "a: 1\nb: {c: x, d: [1]}\n"}, user: map[string]any{"a": float64(2), "b": map[string]any{"d": []any{float64(3)}}, "more": "x", "none": nil}, leaves: 17, ready: 14},
		"a dependency":   {files: map[string]string{"Chart.yaml": chartOf + "app, dependencies: [{name: part, version: 1.0.0}]}", "values.yaml": "part: {a: 5}\n"}, user: map[string]any{"part": map[string]any{"list": []any{"y"}}}, leaves: 9, ready: 5},
		"a condition":    {files: map[string]string{"Chart.yaml": chartOf + "app, dependencies: [{name: part, version: 1.0.0, condition: 'x.on, part.on'}]}", "values.yaml": "part: {on: true}\nx: {on: true, off: true}\n"}, leaves: 13, ready: 11},
		"tags":           {files: map[string]string{"Chart.yaml": chartOf + "app, dependencies: [{name: part, version: 1.0.0, tags: [t]}]}", "values.yaml": "tags: {t: true}\n"}, leaves: 11, ready: 8},
		"imported":       {files: map[string]string{"Chart.yaml": chartOf + "app, dependencies: [{name: part, version: 1.0.0, import-values: [{child: out, parent: in}]}]}", "values.yaml": "b: 1\n"}, user: map[string]any{"e": "x"}, leaves: 13, ready: 1},
		"twice":          {files: map[string]string{"Chart.yaml": chartOf + "app, dependencies: [{name: part, version: 1.0.0, alias: one}, {name: part, version: 1.0.0, alias: two}]}", "values.yaml": "b: 1\n"}, user: map[string]any{"one": map[string]any{"a": float64(7)}}, leaves: 14, ready: 2},
		"global":         {files: map[string]string{"Chart.yaml": chartOf + "app, dependencies: [{name: part, version: 1.0.0}]}", "values.yaml": "global: {t: {x: 1}}\n"}, leaves: 12, ready: 8},
		"table in place": {files: map[string]string{"Chart.yaml": chartOf + "app}", "values.yaml": "a: 1\n"}, user: map[string]any{"a": map[string]any{"b": "x"}}, leaves: 11, ready: 9},
	} {
		fsys := fstest.MapFS{}
		for _, files := range []map[string]string{part, test.files} {
			for name, text := range files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		c, err := chart.FromTree(tree.New(fsys, tree.Limits{}), ".", chart.Limits{})
		if err != nil {
			t.Fatal(name, err)
		}
		var n comparison
		if n.compare(t, name, c, test.user, 100); n != (comparison{test.leaves, test.ready}) {
			t.Errorf("%s: %+v, want %d values, %d of them not prepared anew", name, n, test.leaves, test.ready)
		}
	}
}

// TestReadyCharts does so for values of real charts.
func TestReadyCharts(t *testing.T) {
	dir := "../../../../shared/deployments/charts"
	if given := os.Getenv("PREADMIT_CHARTS"); given != "" {
		dir = given
	}
	archives, _ := filepath.Glob(filepath.Join(dir, "*", "*.tgz"))
	if len(archives) == 0 {
		t.Skipf("no chart archives in %s", dir)
	}
	few, leaves := min(20, len(archives)), 10
	if os.Getenv("PREADMIT_PROVENANCE") == "all" {
		few, leaves = len(archives), 10_000
	}
	var n comparison
	for i := range few {
		file := archives[i*len(archives)/few]
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := chart.FromArchive(data, chart.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		n.compare(t, file, c, nil, leaves)
	}
	t.Logf("%d other values, %d of them not prepared anew", n.leaves, n.ready)
	if n.ready*2 < n.leaves {
		t.Errorf("%d of %d values are prepared anew", n.leaves-n.ready, n.leaves)
	}
}

// newRelease returns a release of a chart without user values.
func newRelease(t *testing.T, files fstest.MapFS) *release.Release {
	t.Helper()
	c, err := chart.FromTree(tree.New(files, tree.Limits{}), ".", chart.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return releaseOf(t, c, map[string]any{})
}

func releaseOf(t *testing.T, c *helmchart.Chart, user map[string]any) *release.Release {
	t.Helper()
	capabilities, err := values.Capabilities("", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &release.Release{Chart: release.NewChart(c), Values: user, Capabilities: capabilities, Release: values.Release{Name: "app", Namespace: "shop"}}
}

// TestReadyShared sets a key of a table in global values, which charts share, and a key of a release that is
// prepared again.
func TestReadyShared(t *testing.T) {
	fsys := fstest.MapFS{
		"Chart.yaml":             {Data: []byte("{apiVersion: v2, version: 1.0.0, name: app, dependencies: [{name: part, version: 1.0.0}]}")},
		"values.yaml":            {Data: []byte("global: {t: {u: {x: 1}}}\na: 1\n")},
		"charts/part/Chart.yaml": {Data: []byte("{apiVersion: v2, version: 1.0.0, name: part}")},
		"templates/a.yaml":       {Data: []byte("{{ $_ := set .Values.global.t.u `x` 2 }}a: {{ .Values.part.global.t.u.x }}{{ .Values.a }}\n")},
	}
	r := newRelease(t, fsys)
	ready := r.Ready()
	changed, ok := ready.With([]any{"a"}, float64(1), float64(3), true)
	if !ok {
		t.Fatal("a value of the chart is prepared anew")
	}
	for _, of := range []*release.Release{r, ready.Release(), changed, ready.Release()} {
		documents, err := of.Documents(t.Context())
		want := "a: 21"
		if of == changed {
			want = "a: 23"
		}
		if err != nil || len(documents) != 1 || documents[0].Text != want+"\n" {
			t.Errorf("%v, %v, want %s", documents, err, want)
		}
	}
}
