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

// TestRemoteBase: a unit's kustomization has a base that lies elsewhere. What is fetched is
// rendered, whatever the source of the unit leaves out; without it the unit is refused.
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
	if got := rendered(without.Render(t.Context(), root)); !strings.Contains(got, "rendering does not reach the network") {
		t.Errorf("without it: %s", got)
	}
}
