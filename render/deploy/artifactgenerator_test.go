package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
)

// fromArtifact returns a Kustomization of an ExternalArtifact.
func fromArtifact(name, path, artifact string) string {
	return strings.Replace(kustomization(name, path, ""), "kind: GitRepository, name: flux-system}", "kind: ExternalArtifact, name: "+artifact+"}", 1)
}

// artifactGenerator returns an ArtifactGenerator that makes artifacts of this repository.
func artifactGenerator(name, more string) string {
	return fmt.Sprintf("---\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: %s, namespace: flux-system}\nspec:\n  sources: [{alias: repo, kind: GitRepository, name: flux-system}]\n%s\n", name, more)
}

func configMap(name string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: x}\n", name)
}

// TestArtifactGenerator checks what a Kustomization of an ExternalArtifact renders to, or why it does not render, and
// what is unclaimed.
func TestArtifactGenerator(t *testing.T) {
	const apps = "-- apps/a.yaml --\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside, namespace: x}\n" +
		"-- apps/base/kustomization.yaml --\nresources: [a.yaml]\n-- apps/base/a.yaml --\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: base, namespace: x}\n" +
		"-- apps/prod/kustomization.yaml --\nresources: [../base]\n"
	copied := func(copies string) string {
		return artifactGenerator("g", "  artifacts: [{name: apps, originRevision: '@repo', copy: ["+copies+"]}]")
	}
	for _, test := range []struct{ name, path, generator, more, want string }{{
		name: "directories that keep their places below one", path: "./prod",
		generator: copied("{from: '@repo/apps/base/**', to: '@artifact/base/'}, {from: '@repo/apps/prod/**', to: '@artifact/prod/'}"),
		want:      "apps/prod: base; apps unclaimed",
	}, {
		name: "one that is not copied", path: "./prod",
		generator: copied("{from: '@repo/apps/prod/**', to: '@artifact/prod/'}"),
		want:      "apps/prod: failed apps/prod/kustomization.yaml:1:13: \"../base\" does not exist: there is no apps/base; apps unclaimed",
	}, {
		name: "a directory that goes into itself", path: "./apps/base",
		generator: copied("{from: '@repo/apps/base/', to: '@artifact/apps/base/'}"),
		want:      "apps: base; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "where it goes", path: "./apps/base/base",
		generator: copied("{from: '@repo/apps/base/', to: '@artifact/apps/base/'}"),
		want:      "apps/base: base; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "above where all files go", path: "./apps",
		generator: copied("{from: '@repo/apps/base/', to: '@artifact/apps/base/'}"),
		want:      "c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g which has all its files in apps/base: that its path apps is above is not supported; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "a file", path: "./",
		generator: copied("{from: '@repo/apps/a.yaml', to: '@artifact/'}"),
		want:      "apps: beside; apps/prod unclaimed",
	}, {
		name: "moved", path: "./other",
		generator: copied("{from: '@repo/apps/base/**', to: '@artifact/other/'}"),
		want:      "apps/base: base; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "moved from where the path is", path: "./base",
		generator: copied("{from: '@repo/apps/base/**', to: '@artifact/other/'}"),
		want:      "c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g which has all its files in other, and nothing at its path base; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "a directory that is not there", path: "./base",
		generator: copied("{from: '@repo/apps/base/', to: '@artifact/'}, {from: '@repo/apps/none/', to: '@artifact/'}"),
		want:      `c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g from "@repo/apps/none/" to "@artifact/", which its source does not have; apps unclaimed; apps/prod unclaimed`,
	}, {
		name: "a directory that is not in the source", path: "./base", more: "-- .sourceignore --\n/apps/prod\n",
		generator: copied("{from: '@repo/apps/base/', to: '@artifact/'}, {from: '@repo/apps/prod/', to: '@artifact/'}"),
		want:      `c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g from "@repo/apps/prod/" to "@artifact/", which its source does not have; apps unclaimed; apps/prod unclaimed`,
	}, {
		name: "what no artifact has, whatever the source has", path: "./x", more: "-- .sourceignore --\n/none\n-- x/kustomization.yaml --\nresources: [.github/a.yaml]\n-- x/.github/a.yaml --\n" + configMap("ci"),
		generator: copied("{from: '@repo/x/', to: '@artifact/'}"),
		want:      "x: failed x/kustomization.yaml:1:13: \".github/a.yaml\" does not exist: there is no x/.github/a.yaml; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "another strategy", path: "./base",
		generator: copied("{from: '@repo/apps/base/', to: '@artifact/', strategy: Merge}"),
		want:      `c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g from "@repo/apps/base/" to "@artifact/" with the strategy Merge, which is not supported; apps unclaimed; apps/prod unclaimed`,
	}, {
		name: "an alias that is not known", path: "./base",
		generator: copied("{from: '@other/apps/base/', to: '@artifact/'}"),
		want:      `c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g from an unknown alias "other"; apps unclaimed; apps/prod unclaimed`,
	}, {
		name: "several sources", path: "./base", more: "-- c/s.yaml --\n" + gitRepository("again", "  url: https://example.com/me/x\n  ignore: /apps/prod\n"),
		generator: strings.Replace(copied("{from: '@repo/apps/base/', to: '@artifact/'}, {from: '@again/apps/base/', to: '@artifact/'}"), "sources: [", "sources: [{alias: again, kind: GitRepository, name: again}, ", 1),
		want:      "c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g of several sources, which is not supported; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "two generators", path: "./base",
		generator: copied("{from: '@repo/apps/base/', to: '@artifact/'}") + strings.Replace(copied("{from: '@repo/apps/prod/', to: '@artifact/'}"), "name: g,", "name: h,", 1),
		want:      "c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g and by ArtifactGenerator/flux-system/h; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "a disabled generator", path: "./base",
		generator: strings.Replace(copied("{from: '@repo/apps/base/', to: '@artifact/'}"), "name: g,", "name: g, annotations: {source.extensions.fluxcd.io/reconcile: disabled},", 1),
		want:      "c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g, which is disabled by its annotation, and does not follow the change; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "names of a pattern", path: "./",
		generator: artifactGenerator("g", "  pathPattern: '@repo/{dir}'\n  artifacts: [{name: '{dir}', copy: [{from: '@repo/{dir}/**', to: '@artifact/'}]}]"),
		want:      "c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps may be made by ArtifactGenerator/flux-system/g with a pathPattern, which is not supported; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "a pattern", path: "./",
		generator: artifactGenerator("g", "  pathPattern: '@repo/{dir}'\n  artifacts: [{name: apps, copy: [{from: '@repo/apps/**', to: '@artifact/'}]}]"),
		want:      "c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by ArtifactGenerator/flux-system/g with a pathPattern, which is not supported; apps unclaimed; apps/prod unclaimed",
	}, {
		name: "another name", path: "./",
		generator: artifactGenerator("g", "  artifacts: [{name: other, copy: [{from: '@repo/apps/**', to: '@artifact/'}]}]"),
		want:      "c: refused c/k.yaml:7:3: its source ExternalArtifact/flux-system/apps is made by nothing in the repository that is known; apps unclaimed; apps/prod unclaimed",
	}} {
		t.Run(test.name, func(t *testing.T) {
			r, graph := expand(t, files("-- c/flux-system/gotk-sync.yaml --\n"+kustomization("flux-system", "./c", "")+
				"-- c/g.yaml --\n"+test.generator+"-- c/k.yaml --\n"+fromArtifact("k", test.path, "apps")+apps+test.more), deploy.Options{Remotes: []string{"https://example.com/me/x"}})
			found, err := r.Discover(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, rendered(r, unit(t, graph, "Kustomization/flux-system/k (c)"), graph, found)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestArtifactOfADirectory checks an ArtifactGenerator whose source is a directory of the tree.
func TestArtifactOfADirectory(t *testing.T) {
	r, graph := expand(t, files("-- k8s/c/flux-system/gotk-sync.yaml --\n"+strings.ReplaceAll(kustomization("flux-system", "./c", ""), "kind: GitRepository", "kind: OCIRepository")+
		"-- k8s/c/g.yaml --\n"+strings.Replace(artifactGenerator("g", "  artifacts: [{name: apps, copy: [{from: '@repo/apps/**', to: '@artifact/apps/'}]}]"), "kind: GitRepository", "kind: OCIRepository", 1)+
		"-- k8s/c/k.yaml --\n"+fromArtifact("k", "./apps", "apps")+"-- k8s/apps/a.yaml --\n"+configMap("a")),
		deploy.Options{SourcePaths: map[string]string{"OCIRepository/flux-system/flux-system": "k8s"}})
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("k8s/apps: a", rendered(r, unit(t, graph, "Kustomization/flux-system/k (k8s/c)"), graph, found)); diff != "" {
		t.Error(diff)
	}
}

// rendered returns the result of a unit as text, with the unclaimed roots.
func rendered(r *render.Renderer, root render.Root, graph *deploy.Graph, found *render.Discovery) string {
	var parts []string
	if result := r.Render(context.Background(), root); result.Problem != nil {
		parts = append(parts, fmt.Sprintf("%s: %s %s: %s", root.Dir, result.Problem.Kind, result.Problem.Place(), result.Problem.Message))
	} else {
		var names []string
		for _, o := range result.Objects {
			var object struct{ Metadata struct{ Name string } }
			_ = json.Unmarshal(o.JSON, &object)
			names = append(names, object.Metadata.Name)
		}
		slices.Sort(names)
		parts = append(parts, root.Dir+": "+strings.Join(names, " "))
	}
	for _, other := range found.Roots {
		if graph.Unclaimed(other.RootID) {
			parts = append(parts, other.Dir+" unclaimed")
		}
	}
	return strings.Join(parts, "; ")
}
