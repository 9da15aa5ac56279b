package scanner_test

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render/tree/treetest"
	"github.com/preadmit/preadmit/scanner"
)

// TestOtherDeployers checks that changes of files for Rancher Fleet and Helmfile are reported as not judged.
func TestOtherDeployers(t *testing.T) {
	base := map[string]string{
		"mon/fleet.yaml":         "defaultNamespace: mon\nhelm: {chart: prometheus, repo: https://example.com, version: 1.0.0, valuesFiles: [values.yaml]}\n",
		"mon/values.yaml":        "a: 1\n",
		"raw/fleet.yaml":         "defaultNamespace: raw\n",
		"raw/c.yaml":             "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: raw}}\n",
		"boot/helmfile.yaml":     "releases: [{name: a, chart: b/c, version: 1.0.0, values: [values.yaml]}]\n",
		"boot/values.yaml":       "a: 1\n",
		"boot/below/values.yaml": "a: 1\n",
		"x/helmfile.d/00-a.yaml": "releases: [{name: a, chart: b/c}]\n",
		"agents/fleet.yaml":      "name: no bundle\n",
	}
	for name, want := range map[string][]string{
		"mon/fleet.yaml": {"mon/fleet.yaml"}, "mon/values.yaml": {"mon/fleet.yaml"}, "raw/fleet.yaml": {"raw/fleet.yaml"}, "raw/c.yaml": nil,
		"boot/helmfile.yaml": {"boot/helmfile.yaml"}, "boot/values.yaml": {"boot/helmfile.yaml"}, "boot/below/values.yaml": nil,
		"x/helmfile.d/00-a.yaml": {"x/helmfile.d/00-a.yaml"}, "agents/fleet.yaml": nil,
	} {
		tree := func(files map[string]string) scanner.Tree {
			fsys := fstest.MapFS{}
			for name, text := range files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}
			return scanner.Tree{FS: treetest.Name(fsys)}
		}
		head := maps.Clone(base)
		head[name] += "# changed\n"
		before := tree(base)
		r, err := scanner.Scan(t.Context(), scanner.Input{Base: &before, Head: tree(head)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		all := 0
		for _, i := range r.Indeterminate {
			if all++; !i.Untouched {
				got = append(got, i.Location.Path)
			}
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" || all != 4 {
			t.Errorf("%s: %d not judged\n%s", name, all, d)
		}
	}
}
