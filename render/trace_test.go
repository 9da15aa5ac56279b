package render_test

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree"
)

func traceTree() fstest.MapFS {
	return fstest.MapFS{
		"overlay/kustomization.yaml": {Data: []byte("resources: [../link]\nconfigMapGenerator:\n- name: a\n  files: [data.txt]\n")},
		"overlay/data.txt":           {Data: []byte("x")},
		"link":                       {Data: []byte("base"), Mode: fs.ModeSymlink | 0o777},
		"base/kustomization.yaml":    {Data: []byte("resources: [cm.yaml]\n")},
		"base/cm.yaml":               {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")},
		"other/kustomization.yaml":   {Data: []byte("namePrefix: x-\nresources: [../base]\n")},
	}
}

func TestTrace(t *testing.T) {
	result := sources.NewRenderer(traceTree(), render.Options{}).Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "overlay"}})
	if result.Problem != nil {
		t.Fatal(result.Problem)
	}
	want := []string{"base/cm.yaml", "base/kustomization.yaml", "link", "overlay/data.txt", "overlay/kustomization.yaml"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(result.Trace.Reads))); diff != "" {
		t.Errorf("reads: %s", diff)
	}
	want = []string{"base/Kustomization", "base/kustomization.yml", "overlay/Kustomization", "overlay/kustomization.yml"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(result.Trace.Misses))); diff != "" {
		t.Errorf("misses: %s", diff)
	}
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		valid  bool
	}{
		"nothing":     {func(fstest.MapFS) {}, true},
		"unrelated":   {func(m fstest.MapFS) { m["readme"] = &fstest.MapFile{} }, true},
		"edited":      {func(m fstest.MapFS) { m["base/cm.yaml"] = &fstest.MapFile{Data: []byte("x")} }, false},
		"removed":     {func(m fstest.MapFS) { delete(m, "overlay/data.txt") }, false},
		"second file": {func(m fstest.MapFS) { m["base/kustomization.yml"] = &fstest.MapFile{} }, false},
		"link elsewhere": {func(m fstest.MapFS) {
			m["link"] = &fstest.MapFile{Data: []byte("other"), Mode: fs.ModeSymlink | 0o777}
		}, false},
		"link to file": {func(m fstest.MapFS) { m["link"] = &fstest.MapFile{Data: []byte("base")} }, false},
	} {
		other := traceTree()
		c.change(other)
		if got := sources.NewRenderer(other, render.Options{}).Valid(result.Trace); got != c.valid {
			t.Errorf("%s: valid %v, want %v", name, got, c.valid)
		}
	}
}

func TestLinks(t *testing.T) {
	fsys := fstest.MapFS{"a/b/c.txt": {Data: []byte("c")}, "sub/file": {Data: []byte("f")}}
	for name, to := range map[string]string{
		"dir": "a", "a/up": "../sub", "loop1": "loop2", "loop2": "loop1", "self": "self/x",
		"absolute": "/etc/hostname", "out": "../outside", "a/out": "../../outside", "chain": "dir/up/file", "gone": "nowhere",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
	}
	tree := tree.New(fsys, tree.Limits{})
	for name, want := range map[string]string{
		"dir/b/c.txt": "a/b/c.txt", "dir/up/file": "sub/file", "chain": "sub/file", "dir": "a", ".": ".",
		"loop1": "", "self": "", "absolute": "", "out": "", "a/out": "", "gone": "", "sub/file/x": "", "../x": "", "none/x": "",
	} {
		r := tree.Resolve(name)
		if (r.Err == nil) != (want != "") || (r.Err == nil && r.Real != want) {
			t.Errorf("%s leads to %q (%v), want %q", name, r.Real, r.Err, want)
		}
	}
}
