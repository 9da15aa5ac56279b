package scanner_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/scanner"
)

// TestOnlyReachedUnitsAreBuilt checks that of many units only those are built that the change
// reaches, and those that render other units.
func TestOnlyReachedUnitsAreBuilt(t *testing.T) {
	base, head := cluster(30, "2"), cluster(30, "3")
	var mu sync.Mutex
	built := map[string]int{}
	in := scanner.Input{
		Base: &scanner.Tree{FS: base}, Head: scanner.Tree{FS: head},
		Rendering: func(root, tree string) func() {
			mu.Lock()
			defer mu.Unlock()
			built[root]++
			return func() {}
		},
	}
	report, err := scanner.Scan(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Summary.Requests; got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
	var roots []string
	for root := range built {
		roots = append(roots, root)
	}
	slices.Sort(roots)
	if want := []string{"apps/7", "clusters/prod"}; !slices.Equal(roots, want) {
		t.Errorf("built %v, want %v", roots, want)
	}
}

// cluster returns a tree of a cluster with the given number of units, one of which has the given
// number of replicas.
func cluster(units int, replicas string) fstest.MapFS {
	tree := fstest.MapFS{}
	write := func(name, text string) { tree[name] = &fstest.MapFile{Data: []byte(text)} }
	unit := func(name, path string) string {
		return fmt.Sprintf("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\n"+
			"spec: {interval: 10m, path: %s, prune: true, targetNamespace: %[1]s, sourceRef: {kind: GitRepository, name: flux-system}, postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}}\n", name, path)
	}
	write("clusters/prod/flux-system/gotk-sync.yaml", unit("flux-system", "./clusters/prod"))
	write("clusters/prod/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {REGION: north}\n")
	for i := range units {
		dir, count := fmt.Sprintf("apps/%d", i), "1"
		if i == 7 {
			count = replicas
		}
		write(fmt.Sprintf("clusters/prod/app-%d.yaml", i), unit(fmt.Sprintf("app-%d", i), dir))
		write(dir+"/kustomization.yaml", "resources: [web.yaml]\n")
		write(dir+"/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, annotations: {region: '${REGION}'}}\nspec: {replicas: "+count+"}\n")
	}
	return tree
}
