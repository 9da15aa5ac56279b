package render_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
)

// benchTree returns a tree with n bases with three overlays each, and n directories of plain manifests.
func benchTree(n int) fstest.MapFS {
	m := fstest.MapFS{}
	add := func(name, format string, args ...any) {
		m[name] = &fstest.MapFile{Data: fmt.Appendf(nil, format, args...)}
	}
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-%d\n  labels: {app: app}\nspec:\n  replicas: 1\n" +
		"  selector: {matchLabels: {app: app}}\n  template:\n    metadata: {labels: {app: app}}\n    spec:\n      containers:\n" +
		"      - name: app\n        image: registry.example.com/app:1\n        resources: {limits: {cpu: 100m, memory: 64Mi}}\n"
	for i := range n {
		base := fmt.Sprintf("apps/%d/base/", i)
		add(base+"kustomization.yaml", "resources: [deployment.yaml, service.yaml]\n")
		add(base+"deployment.yaml", deployment, i)
		add(base+"service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: app-%d}\nspec: {ports: [{port: 80}]}\n", i)
		for _, env := range []string{"dev", "stage", "prod"} {
			overlay := fmt.Sprintf("apps/%d/%s/", i, env)
			add(overlay+"kustomization.yaml", "namespace: %s\nresources: [../base]\npatches:\n- path: replicas.yaml\n"+
				"configMapGenerator:\n- name: settings\n  literals: [env=%s]\n", env, env)
			add(overlay+"replicas.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app-%d}\nspec: {replicas: 3}\n", i)
		}
		add(fmt.Sprintf("plain/%d/all.yaml", i), deployment+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n", i)
	}
	return m
}

func BenchmarkDiscover(b *testing.B) {
	fsys := benchTree(300) // 1,200 kustomizations
	for b.Loop() {
		d, err := sources.NewRenderer(fsys, render.Options{}).Discover(context.Background())
		if err != nil || len(d.Roots) != 4*300 {
			b.Fatal(err, len(d.Roots))
		}
	}
}

func BenchmarkRender(b *testing.B) {
	fsys := benchTree(20)
	for name, root := range map[string]render.Root{
		"kustomize": {RootID: render.RootID{Kind: render.KindKustomize, Dir: "apps/7/prod"}},
		"plain":     {RootID: render.RootID{Kind: render.KindPlain, Dir: "plain/7"}, Files: []string{"plain/7/all.yaml"}},
	} {
		b.Run(name, func(b *testing.B) {
			r := sources.NewRenderer(fsys, render.Options{})
			for b.Loop() {
				if result := r.Render(context.Background(), root); result.Problem != nil {
					b.Fatal(result.Problem)
				}
			}
		})
	}
}

func BenchmarkSources(b *testing.B) {
	r := sources.NewRenderer(benchTree(20), render.Options{})
	result := r.Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "apps/7/prod"}})
	for b.Loop() {
		if _, err := r.Origins(context.Background(), result); err != nil {
			b.Fatal(err)
		}
	}
}
