package flux_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/tree"
)

// TestRemoteBase checks a unit whose kustomization has a remote base. If it was fetched, it is rendered, whatever the
// source of the unit excludes; otherwise the unit is refused.
func TestRemoteBase(t *testing.T) {
	remote := fstest.MapFS{"base/kustomization.yaml": {Data: []byte("resources: [a.yaml]\n")}, "base/a.yaml": {Data: []byte(configMap)}}
	var packed bytes.Buffer
	if err := store.Pack(&packed, remote, store.Limits{}); err != nil {
		t.Fatal(err)
	}
	kept := store.Open(filepath.Join(t.TempDir(), "cache"))
	digest, size, err := kept.Put(&packed, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	locked := &lock.Lock{}
	locked.Set(artifact.Artifact{Kind: artifact.Git, URL: "https://example.com/org/repo", Version: "v1"}, artifact.Pin{Digest: digest, Size: size})
	in := files(t, "-- apps/kustomization.yaml --\nresources:\n- https://example.com/org/repo//base?ref=v1\n-- .sourceignore --\na.yaml\n@artifacts\n")
	root := unitOf(t, "apps", "  path: ./apps\n  targetNamespace: shop\n")

	source := flux.New(tree.New(overlay.New(in, store.NewLocked(kept, locked, nil)), tree.Limits{}), render.Options{})
	result := source.Render(t.Context(), root)
	if got := rendered(result); !strings.Contains(got, "namespace: shop") {
		t.Fatalf("with the artifact: %s", got)
	}
	origins, err := source.Origins(t.Context(), result)
	if err != nil {
		t.Fatal(err)
	}
	if at := origins[0].Document(); at.Path != "apps/kustomization.yaml" || at.Line != 2 {
		t.Errorf("the document is at %s", at)
	}
	without := flux.New(tree.New(in, tree.Limits{}), render.Options{})
	if got := rendered(without.Render(t.Context(), root)); !strings.Contains(got, "preadmit fetch gets it") {
		t.Errorf("without it: %s", got)
	}
}

// TestElsewhere checks that a unit whose source is another repository is built from the tree of that repository, and
// that what is written there has the place where the source is named.
func TestElsewhere(t *testing.T) {
	remote := fstest.MapFS{
		"deploy/a.yaml":           {Data: []byte(configMap)},
		"deploy/left-out/b.yaml":  {Data: []byte("not yaml: [")},
		"deploy/more/shared.yaml": {Data: []byte(strings.ReplaceAll(configMap, "name: a", "name: shared"))},
		"top/kustomization.yaml":  {Data: []byte("resources: [../deploy/more/shared.yaml]\n")},
		".sourceignore":           {Data: []byte("left-out/\n")},
	}
	var packed bytes.Buffer
	if err := store.Pack(&packed, remote, store.Limits{}); err != nil {
		t.Fatal(err)
	}
	kept := store.Open(filepath.Join(t.TempDir(), "cache"))
	digest, size, err := kept.Put(&packed, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	asked := artifact.Artifact{Kind: artifact.Git, URL: "https://example.com/org/repo", Version: "refs/tags/v1"}
	locked := &lock.Lock{}
	locked.Set(asked, artifact.Pin{Digest: digest, Size: size})
	in := files(t, "-- deploy/of-this-repository.yaml --\n"+configMap+"-- .sourceignore --\na.yaml\n@artifacts\n")
	source := flux.New(tree.New(overlay.New(in, store.NewLocked(kept, locked, nil)), tree.Limits{}), render.Options{})
	unit := func(spec string) render.Root {
		root := unitOf(t, "clusters", spec)
		root.Unit.Artifact = &render.Artifact{Kind: asked.Kind, URL: asked.URL, Version: asked.Version}
		return root
	}

	root := unit("  path: ./deploy\n  targetNamespace: shop\n")
	result := source.Render(t.Context(), root)
	got := rendered(result)
	if strings.Count(got, "namespace: shop") != 2 || !strings.Contains(got, "name: shared") {
		t.Fatalf("the directory renders to:\n%s", got)
	}
	for name := range result.Trace.Reads {
		if !overlay.Under(name) {
			t.Errorf("%s of this repository is read", name)
		}
	}
	if in := source.Needs(root); in.Problem != nil || !in.Trace.Covers(result.Trace) {
		t.Errorf("the needs do not foresee what is read: %v", in.Problem)
	}
	origins, err := source.Origins(t.Context(), result)
	if err != nil {
		t.Fatal(err)
	}
	if at := origins[0].Document(); overlay.Under(at.Path) || at.Path == "deploy/a.yaml" {
		t.Errorf("the document is at %s, which is no file of the repository", at)
	}
	if got := rendered(source.Render(t.Context(), unit("  path: top\n"))); !strings.Contains(got, "name: shared") {
		t.Errorf("a path beside the directory: %s", got)
	}
	if got := rendered(source.Render(t.Context(), unit("  path: ./gone\n"))); !strings.Contains(got, "there is no directory gone in git https://example.com/org/repo") {
		t.Errorf("a directory that is not there: %s", got)
	}
}
