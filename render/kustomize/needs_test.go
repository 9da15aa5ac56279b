package kustomize_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
)

// TestArtifacts: what a root needs from outside the repository is known before it is
// rendered, and the root is refused all the same.
func TestArtifacts(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	fsys := fstest.MapFS{
		"app/kustomization.yaml": file(`resources:
- https://github.com/org/repo//deploy?ref=v1.2.3
- https://example.com/crds.yaml
- git@github.com:org/other.git
- ../base
helmCharts:
- {name: podinfo, repo: "https://charts.example.com", version: 6.5.0}
`),
		"base/kustomization.yaml": file("components: ['github.com/org/repo/component?version=main']\n"),
	}
	root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: "app"}}
	needs := sources.NewRenderer(fsys, render.Options{}).Needs(root)
	at := func(path string, line, column int) render.Position {
		return render.Position{Path: path, Line: line, Column: column}
	}
	want := []render.Artifact{
		{Kind: render.ArtifactGit, URL: "https://github.com/org/repo", Version: "v1.2.3", Dir: "deploy", Submodules: true, Position: at("app/kustomization.yaml", 2, 3)},
		{Kind: render.ArtifactFile, URL: "https://example.com/crds.yaml", Position: at("app/kustomization.yaml", 3, 3)},
		{Kind: render.ArtifactGit, URL: "git@github.com:org/other.git", Submodules: true, Position: at("app/kustomization.yaml", 4, 3)},
		{Kind: render.ArtifactChart, URL: "https://charts.example.com", Name: "podinfo", Version: "6.5.0", Position: at("app/kustomization.yaml", 7, 3)},
		{Kind: render.ArtifactGit, URL: "https://github.com/org/repo", Version: "main", Dir: "component", Submodules: true, Position: at("base/kustomization.yaml", 1, 14)},
	}
	if diff := cmp.Diff(want, needs.Artifacts); diff != "" {
		t.Error(diff)
	}
	if needs.Problem == nil || needs.Problem.Kind != render.ProblemRefused {
		t.Errorf("problem %v", needs.Problem)
	}
}
