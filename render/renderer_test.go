package render

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestBinaryFiles(t *testing.T) {
	binary := []byte("apiVersion: v1\nkind: ConfigMap\n\x00\x01\x02")
	fsys := fstest.MapFS{
		"plain/a.yaml":         {Data: binary},
		"k/kustomization.yaml": {Data: []byte("resources:\n- a.yaml\n")},
		"k/a.yaml":             {Data: binary},
	}
	d, err := NewRenderer(fsys, Options{}).Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Diagnostics) != 1 || !strings.Contains(d.Diagnostics[0].Message, "control characters") || len(d.Roots) != 2 || d.Roots[0].Dir != "k" {
		t.Errorf("found %+v", d)
	}
	p := NewRenderer(fsys, Options{}).Render(context.Background(), d.Roots[0]).Problem
	if p == nil || p.Path != "k/a.yaml" || !strings.Contains(p.Message, "control characters") {
		t.Errorf("problem %v", p)
	}
}

func TestLoadRestrictor(t *testing.T) {
	fsys := fstest.MapFS{
		"k/kustomization.yaml": {Data: []byte("resources:\n- ../a.yaml\n")},
		"a.yaml":               {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")},
	}
	root := Root{RootID: RootID{Kind: KindKustomize, Dir: "k"}}
	if p := NewRenderer(fsys, Options{}).Render(context.Background(), root).Problem; p != nil {
		t.Error(p)
	}
	p := NewRenderer(fsys, Options{LoadRestrictor: LoadRestrictionsRootOnly}).Render(context.Background(), root).Problem
	if p == nil || !strings.Contains(p.Message, "not in or below") || p.Line != 2 {
		t.Errorf("problem %v", p)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewRenderer(benchTree(1), Options{}).Discover(ctx); err == nil {
		t.Error("discovered")
	}
	r := NewRenderer(benchTree(1), Options{})
	root := Root{RootID: RootID{Kind: KindKustomize, Dir: "apps/0/prod"}}
	if p := r.Render(ctx, root).Problem; p == nil || !strings.Contains(p.Message, "given up") {
		t.Errorf("problem %v", p)
	}
	if _, err := r.Sources(ctx, &Result{Root: root}); err == nil {
		t.Error("located")
	}
}

// TestConcurrent renders and locates the same roots from several goroutines.
func TestConcurrent(t *testing.T) {
	fsys := benchTree(3)
	d, err := NewRenderer(fsys, Options{}).Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r := NewRenderer(fsys, Options{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, root := range d.Roots {
				result := r.Render(context.Background(), root)
				sources, err := r.Sources(context.Background(), result)
				if result.Problem != nil || err != nil {
					t.Errorf("%s: %v %v", root.Dir, result.Problem, err)
					continue
				}
				again := NewRenderer(fsys, Options{}).Render(context.Background(), root)
				if diff := cmp.Diff(result.Objects, again.Objects); diff != "" {
					t.Errorf("%s: %s", root.Dir, diff)
				}
				for i := range sources {
					everyLeaf(result.Objects[i].Content(), "", func(path string) { sources[i].Find(path) })
				}
			}
		})
	}
	group.Wait()
}
