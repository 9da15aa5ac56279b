package render_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/sources"
)

func TestBinaryFiles(t *testing.T) {
	binary := []byte("apiVersion: v1\nkind: ConfigMap\n\x00\x01\x02")
	fsys := fstest.MapFS{
		"plain/a.yaml":         {Data: binary},
		"k/kustomization.yaml": {Data: []byte("resources:\n- a.yaml\n")},
		"k/a.yaml":             {Data: binary},
	}
	d, err := sources.NewRenderer(fsys, render.Options{}).Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Diagnostics) != 1 || d.Diagnostics[0].Line != 3 || !strings.Contains(d.Diagnostics[0].Message, "control characters") || len(d.Roots) != 2 || d.Roots[0].Dir != "k" {
		t.Errorf("found %+v", d)
	}
	p := sources.NewRenderer(fsys, render.Options{}).Render(context.Background(), d.Roots[0]).Problem
	if p == nil || p.Path != "k/a.yaml" || p.Line != 3 || !strings.Contains(p.Message, "control characters") {
		t.Errorf("problem %v", p)
	}
}

func TestLoadRestrictor(t *testing.T) {
	fsys := fstest.MapFS{
		"k/kustomization.yaml": {Data: []byte("resources:\n- ../a.yaml\n")},
		"a.yaml":               {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")},
	}
	root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "k"}}
	if p := sources.NewRenderer(fsys, render.Options{}).Render(context.Background(), root).Problem; p != nil {
		t.Error(p)
	}
	p := sources.NewRenderer(fsys, render.Options{LoadRestrictor: render.LoadRestrictionsRootOnly}).Render(context.Background(), root).Problem
	if p == nil || !strings.Contains(p.Message, "is outside of k") || p.Line != 2 {
		t.Errorf("problem %v", p)
	}
}

// TestKeepOrigins checks that kept origins are not computed again.
func TestKeepOrigins(t *testing.T) {
	r := sources.NewRenderer(benchTree(1), render.Options{})
	result := r.Render(t.Context(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "apps/0/prod"}})
	keep := func(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
		return r.KeepOrigins(ctx, result, nil, nil)
	}
	kept, err := keep(t.Context(), result)
	if err != nil {
		t.Fatal(err)
	}
	for _, find := range []func(context.Context, *render.Result) ([]*origin.Origin, error){r.Origins, keep} {
		if again, err := find(t.Context(), result); err != nil || len(again) == 0 || again[0] != kept[0] {
			t.Errorf("found again: %v, %v", again, err)
		}
	}
	if again, err := r.Origins(t.Context(), r.Render(t.Context(), result.Root)); err != nil || again[0] == kept[0] {
		t.Errorf("another result has the same origins: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := sources.NewRenderer(benchTree(1), render.Options{}).Discover(ctx); err == nil {
		t.Error("discovered")
	}
	r := sources.NewRenderer(benchTree(1), render.Options{})
	root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "apps/0/prod"}}
	if p := r.Render(ctx, root).Problem; p == nil || !strings.Contains(p.Message, "given up") {
		t.Errorf("problem %v", p)
	}
	if _, err := r.Origins(ctx, &render.Result{Root: root}); err == nil {
		t.Error("located")
	}
}

// TestConcurrent renders and locates the same roots from several goroutines.
func TestConcurrent(t *testing.T) {
	fsys := benchTree(3)
	d, err := sources.NewRenderer(fsys, render.Options{}).Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r := sources.NewRenderer(fsys, render.Options{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, root := range d.Roots {
				result := r.Render(context.Background(), root)
				found, err := r.Origins(context.Background(), result)
				if result.Problem != nil || err != nil {
					t.Errorf("%s: %v %v", root.Dir, result.Problem, err)
					continue
				}
				again := sources.NewRenderer(fsys, render.Options{}).Render(context.Background(), root)
				if diff := cmp.Diff(result.Objects, again.Objects); diff != "" {
					t.Errorf("%s: %s", root.Dir, diff)
				}
				for i := range found {
					everyLeaf(result.Objects[i].Content(), "", func(path string) { found[i].Find(path) })
				}
			}
		})
	}
	group.Wait()
}
