package render_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
)

// discoverIn returns the roots of an archive and the gaps, as lines.
func discoverIn(t *testing.T, archive string, selected func(string) bool) []string {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	found, err := sources.NewRenderer(fsys, render.Options{}).DiscoverSelected(context.Background(), render.Selection{Dirs: selected})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, root := range found.Roots {
		lines = append(lines, strings.Join(append([]string{string(root.Kind), root.Dir}, root.Files...), " "))
	}
	for _, o := range found.Gaps {
		lines = append(lines, string(o.Kind)+" "+o.Path)
	}
	return lines
}

// TestDiscoverWhatNothingRenderedUses checks that a file counts as used only if its user is rendered.
func TestDiscoverWhatNothingRenderedUses(t *testing.T) {
	const manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	const component = "\n-- c/kustomization.yaml --\nkind: Component\nresources: [../apps/new]\n"
	kustomized := "-- apps/new/kustomization.yaml --\nresources: [p.yaml]\n-- apps/new/p.yaml --\n" + manifest
	plain := "-- apps/new/p.yaml --\n" + manifest
	for name, test := range map[string]struct {
		archive string
		want    []string
	}{
		"a Component uses a kustomization": {kustomized + component, []string{"kustomize apps/new", "component c"}},
		"a Component uses a manifest": {
			plain + strings.Replace(component, "new]", "new/p.yaml]", 1),
			[]string{"plain apps/new apps/new/p.yaml", "component c"},
		},
		"Components use each other": {
			kustomized + strings.Replace(component, "new]", "new]\ncomponents: [../d]", 1) + "-- d/kustomization.yaml --\n{kind: Component, components: [../c]}\n",
			[]string{"kustomize apps/new", "component c", "component d"},
		},
		"a Component patches with a file": {
			plain + "-- c/kustomization.yaml --\n{kind: Component, patches: [{path: ../apps/new/p.yaml}]}\n",
			[]string{"component c"},
		},
		"a Component has a directory for its charts": {
			plain + "-- c/kustomization.yaml --\n{kind: Component, helmGlobals: {chartHome: ../apps}, helmCharts: [{name: x}]}\n",
			[]string{"plain apps/new apps/new/p.yaml", "component c"},
		},
		"a Component reads the values of a chart from it": {
			plain + "-- c/kustomization.yaml --\n{kind: Component, helmCharts: [{name: x, valuesFile: ../apps/new/p.yaml}]}\n",
			[]string{"component c"},
		},
		"a root uses the Component": {
			kustomized + component + "-- z/kustomization.yaml --\ncomponents: [../c]\n",
			[]string{"kustomize z"},
		},
		"a root that only an unused Component uses, uses the Component": {
			kustomized + component + "-- d/kustomization.yaml --\n{kind: Component, resources: [../z]}\n-- z/kustomization.yaml --\ncomponents: [../c]\n",
			[]string{"kustomize z", "component d"},
		},
	} {
		if d := cmp.Diff(test.want, discoverIn(t, test.archive, nil)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestDiscoverSelected checks that users outside of the selection do not hide what is selected.
func TestDiscoverSelected(t *testing.T) {
	const manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	kustomized := "-- apps/new/kustomization.yaml --\nresources: [p.yaml]\n-- apps/new/p.yaml --\n" + manifest
	plain := "-- apps/new/p.yaml --\n" + manifest + "-- apps/new/q.yaml --\n" + manifest
	const other = "-- z/kustomization.yaml --\nresources: [../apps/new]\n"
	for name, test := range map[string]struct {
		archive string
		want    []string
	}{
		"a kustomization": {kustomized + other, []string{"kustomize apps/new", "kustomize z"}},
		"by way of another one": {
			kustomized + other + "-- y/kustomization.yaml --\nresources: [../z]\n",
			[]string{"kustomize apps/new", "kustomize y"},
		},
		"by a cycle": {
			kustomized + "-- y/kustomization.yaml --\nresources: [../z]\n-- z/kustomization.yaml --\nresources: [../y, ../apps/new]\n",
			[]string{"kustomize apps/new", "kustomize y"},
		},
		"a manifest": {
			plain + "-- z/kustomization.yaml --\nresources: [../apps/new/p.yaml]\n",
			[]string{"plain apps/new apps/new/p.yaml apps/new/q.yaml", "kustomize z"},
		},
		"one that a Component generates of": {
			plain + "-- z/kustomization.yaml --\n{kind: Component, configMapGenerator: [{name: x, files: [../apps/new/p.yaml]}]}\n",
			[]string{"plain apps/new apps/new/p.yaml apps/new/q.yaml", "component z"},
		},
		"beside one that is used": {
			plain + "-- z/kustomization.yaml --\nresources: [../apps/new/p.yaml]\n-- apps/k/kustomization.yaml --\nresources: [../new/q.yaml]\n",
			[]string{"kustomize apps/k", "kustomize z", "unused manifest apps/new/p.yaml"},
		},
		"what a selected root uses": {
			kustomized + other + "-- apps/k/kustomization.yaml --\nresources: [../new]\n",
			[]string{"kustomize apps/k", "kustomize z"},
		},
	} {
		got := discoverIn(t, test.archive, func(dir string) bool { return strings.HasPrefix(dir, "apps") })
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestProblemsAreReportedOnce checks that problems are reported once, even if files are read again.
func TestProblemsAreReportedOnce(t *testing.T) {
	r := sources.NewRenderer(fstest.MapFS{
		"a/ok.yaml":       {Data: []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")},
		"a/template.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Name }}}\n")},
	}, render.Options{})
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if root, ok := r.Plain("a"); !ok || len(root.Files) != 1 || len(found.Diagnostics) != 1 || len(found.Gaps) != 1 {
		t.Errorf("root %v, told %v %v", root, found.Diagnostics, found.Gaps)
	}
}

// TestUnlistedManifests checks the manifests that are not listed as resources.
func TestUnlistedManifests(t *testing.T) {
	const manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
	fsys := fstest.MapFS{"a/b/kustomization.yaml": {Data: []byte("resources: [../below.yaml]")}}
	for _, name := range []string{"listed", "below", "generated", "not"} {
		fsys["a/"+name+".yaml"] = &fstest.MapFile{Data: []byte(manifest)}
	}
	fsys["a/values.yaml"] = &fstest.MapFile{Data: []byte("a: 1")}
	fsys["a/kustomization.yaml"] = &fstest.MapFile{Data: []byte("{resources: [listed.yaml, b], configMapGenerator: [{name: g, files: [generated.yaml]}]}")}
	r := sources.NewRenderer(fsys, render.Options{})
	if _, err := r.Discover(context.Background()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a/generated.yaml", "a/not.yaml"}, r.Unlisted("a")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string][]string{"a": {"a/b"}, "a/b": {"a"}}, r.Users()); d != "" {
		t.Error(d)
	}
}
