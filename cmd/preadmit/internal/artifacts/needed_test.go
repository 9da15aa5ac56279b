package artifacts_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/artifacts"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/deploy"
)

// Entries of the configuration may be directories and files with an Application; those that a tree does not have are
// those of another one.
func TestNeededOfEntries(t *testing.T) {
	app := func(chart string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + chart + ", namespace: argocd}\n" +
			"spec:\n  source: {repoURL: https://charts.example.com, chart: " + chart + ", targetRevision: 1.0.0}\n  destination: {name: in-cluster}\n")}
	}
	in := artifacts.Tree{
		Files:  fstest.MapFS{"apps/one.yaml": app("one"), "roots/two.yaml": app("two"), "roots/three.yaml": app("three")},
		Deploy: deploy.Options{Entries: []string{"apps", "roots/two.yaml", "roots/gone.yaml"}},
	}
	needed, err := in.Needed(context.Background(), store.Open(t.TempDir()), &lock.Lock{})
	if err != nil {
		t.Fatal(err)
	}
	var charts []string
	for a := range maps.Keys(needed) {
		if a.Kind == artifact.Chart {
			charts = append(charts, a.Name)
		}
	}
	slices.Sort(charts)
	if want := []string{"one", "two"}; !slices.Equal(charts, want) {
		t.Errorf("charts %q, want %q", charts, want)
	}
}
