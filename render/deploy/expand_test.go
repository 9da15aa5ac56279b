package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/cputime"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/deploy/paths"
)

// kustomization returns a Flux Kustomization.
func kustomization(name, path, more string) string {
	return fmt.Sprintf("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\nspec:\n  path: %s\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n%s", name, path, more)
}

// fromFleet returns a Kustomization of the source fleet.
func fromFleet(name, path string) string {
	return strings.Replace(kustomization(name, path, ""), "name: flux-system}\n", "name: fleet}\n", 1)
}

func gitRepository(name, more string) string {
	return fmt.Sprintf("---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: %s, namespace: flux-system}\nspec:\n%s", name, more)
}

// fromOCI returns a Kustomization of an OCIRepository.
func fromOCI(name, source string) string {
	return strings.Replace(kustomization(name, "./apps", ""), "kind: GitRepository, name: flux-system}\n", "kind: OCIRepository, name: "+source+"}\n", 1)
}

func ociRepository(name, ref string) string {
	return fmt.Sprintf("---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: %s, namespace: flux-system}\nspec:\n  url: oci://example.com/x\n  ref: %s\n", name, ref)
}

// applicationSet returns an ApplicationSet with an Application for each directory that a generator finds.
func applicationSet(generator, source string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: apps, namespace: argocd}\nspec:\n  generators: [{" + generator + "}]\n" +
		"  template:\n    metadata: {name: '{{path.basename}}'}\n    spec:\n      destination: {name: in-cluster, namespace: x}\n" +
		"      source: {repoURL: 'https://example.com/fleet', path: '{{path}}'" + source + "}\n"
}

// application returns an Application that applies a directory.
func application(name, dir string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + ", namespace: argocd}\nspec:\n  destination: {name: in-cluster, namespace: argocd}\n" +
		"  source: {repoURL: 'https://example.com/fleet', path: " + dir + "}\n"
}

// instance returns a FluxInstance that syncs prod, with patches.
func instance(patches string) string {
	return "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n" +
		"  sync: {kind: GitRepository, url: https://example.com/x, ref: refs/heads/main, path: prod}\n  kustomize:\n    patches:" + patches
}

// excluded adds metadata to an object.
func excluded(object, metadata string) string {
	return strings.Replace(object, "namespace: flux-system}", "namespace: flux-system, "+metadata+"}", 1)
}

// encrypted is a Secret that SOPS encrypted.
const encrypted = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: x}\nstringData: {a: 'ENC[AES256_GCM,data:A,iv:A,tag:A,type:str]'}\nsops: {lastmodified: '2026-01-01T00:00:00Z', mac: 'ENC[AES256_GCM,data:A,iv:A,tag:A,type:str]'}\n"

const aConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n"

// drawn returns a graph as lines: the units with the first lines of their problems, the roots that are applied by hand,
// and the unclaimed roots.
func drawn(g *deploy.Graph, found *render.Discovery) string {
	var lines []string
	for _, root := range g.Units {
		line := fmt.Sprintf("%s %s", root, root.Dir)
		if root.Unit.Entry {
			line += " entry"
		}
		if root.Unit.Cluster != root.Cluster {
			line += " to " + root.Unit.Cluster
		}
		if root.Unit.Apply.Suspended {
			line += " suspended"
		}
		if p := root.Unit.Problem; p != nil {
			line += fmt.Sprintf(" %s %s: %s", p.Kind, p.Place(), p.Message)
		}
		for _, v := range root.Unit.Variables {
			line += fmt.Sprintf(" %s=%s%s", v.Name, v.Value, v.Unknown)
		}
		lines = append(lines, line)
	}
	for _, root := range found.Roots {
		switch {
		case len(g.Bootstrap[root.RootID]) > 0:
			lines = append(lines, fmt.Sprintf("%s by hand", root.Dir))
		case g.Unclaimed(root.RootID):
			lines = append(lines, fmt.Sprintf("%s unclaimed", root.Dir))
		}
	}
	for _, gap := range g.Gaps {
		lines = append(lines, fmt.Sprintf("gap %s: %s", gap.Root, gap.Why))
	}
	return strings.Join(lines, "\n")
}

func TestExpand(t *testing.T) {
	tests := []struct {
		name, files string
		opts        deploy.Options
		want        string
	}{{
		name: "two clusters with units of the same name",
		files: "-- clusters/a/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/a", "") + gitRepository("flux-system", "  url: https://example.com/x\n") +
			"-- clusters/a/apps.yaml --\n" + kustomization("apps", "./apps/a", "") +
			"-- clusters/b/flux-system/gotk-sync.yaml --\n# made later\n" +
			"-- clusters/b/apps.yaml --\n" + kustomization("apps", "./apps/b", "") +
			"-- apps/a/a.yaml --\n" + aConfigMap + "-- apps/b/a.yaml --\n" + aConfigMap + "-- apps/c/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/apps (clusters/a) apps/a
Kustomization/flux-system/flux-system (clusters/a) clusters/a entry
Kustomization/flux-system/apps (clusters/b) apps/b
Kustomization/flux-system/flux-system (clusters/b) clusters/b entry
apps/c unclaimed`,
	}, {
		name: "an Application beside the templates of its chart",
		files: "-- root/Chart.yaml --\n{apiVersion: v2, name: root, version: 1.0.0}\n-- root/templates/a.yaml --\n" + aConfigMap +
			"-- root/root.yaml --\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: root, namespace: argocd}\nspec:\n" +
			"  source: {repoURL: 'https://git.example.com/r', path: root}\n  destination: {name: in-cluster}\n",
		want: `Application/argocd/root (in-cluster) root entry
root by hand`,
	}, {
		name: "one entry point is requested",
		files: "-- clusters/a/apps.yaml --\n" + kustomization("apps", "./apps/a", "") + "-- clusters/b/apps.yaml --\n" + kustomization("apps", "./apps/a", "") +
			"-- apps/a/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{Entries: []string{"./clusters/a"}},
		want: `Kustomization/flux-system/apps (clusters/a) apps/a
Kustomization/flux-system/flux-system (clusters/a) clusters/a entry
clusters/b unclaimed`,
	}, {
		name: "encrypted Secrets where nothing says what applies them",
		files: "-- clusters/a/apps.yaml --\n" + kustomization("apps", "./apps/a", "") + "-- clusters/a/secret.yaml --\n" + encrypted +
			"-- clusters/b/apps.yaml --\n" + kustomization("apps", "./apps/a", "") + "-- clusters/b/flux-system/gotk-sync.yaml --\n# made later\n" + "-- clusters/b/secret.yaml --\n" + encrypted +
			"-- apps/a/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{Entries: []string{"clusters/a", "clusters/b"}},
		want: `Kustomization/flux-system/apps (clusters/a) apps/a
Kustomization/flux-system/flux-system (clusters/a) clusters/a entry
Kustomization/flux-system/apps (clusters/b) apps/a
Kustomization/flux-system/flux-system (clusters/b) clusters/b entry`,
	}, {
		name: "an entry point is requested that a source of another name applies",
		files: "-- clusters/a/apps.yaml --\n" + strings.Replace(kustomization("one", "./apps/a", ""), "name: flux-system}\n", "name: other}\n", 1) + "---\n" + fromFleet("apps", "./apps/a") + "---\n" + fromFleet("more", "./apps/a") +
			"-- clusters/b/apps.yaml --\n" + kustomization("apps", "./apps/a", "") + "-- apps/a/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{Entries: []string{"clusters/a"}},
		want: `Kustomization/flux-system/apps (clusters/a) apps/a
Kustomization/flux-system/fleet (clusters/a) clusters/a entry
Kustomization/flux-system/more (clusters/a) apps/a
Kustomization/flux-system/one (clusters/a) clusters/a refused clusters/a/apps.yaml:7:3: its source GitRepository/flux-system/other is not in the repository, so its content is not known
clusters/b unclaimed`,
	}, {
		name: "an entry point is requested that a FluxInstance names",
		files: "-- deploy/instance.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n  sync: {kind: GitRepository, name: fleet, url: https://example.com/x, path: prod}\n" +
			"-- prod/apps.yaml --\n" + fromFleet("apps", "./apps") + "-- apps/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{Entries: []string{"prod"}},
		want: "Kustomization/flux-system/apps (prod) apps\nKustomization/flux-system/fleet (prod) prod entry\ndeploy by hand",
	}, {
		name: "an artifact that is made of a directory",
		files: "-- kubernetes/flux/instance.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n  sync: {kind: OCIRepository, url: oci://registry.example.com/x, ref: latest, path: ./prod}\n" +
			"-- kubernetes/prod/apps.yaml --\n" + strings.ReplaceAll(kustomization("apps", "./apps", ""), "kind: GitRepository", "kind: OCIRepository") + "-- kubernetes/apps/a.yaml --\n" + aConfigMap +
			"-- prod/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{SourcePaths: map[string]string{"OCIRepository/flux-system/flux-system": "./kubernetes"}},
		want: "Kustomization/flux-system/apps (kubernetes/prod) kubernetes/apps\nKustomization/flux-system/flux-system (kubernetes/prod) kubernetes/prod entry\nkubernetes/flux by hand\nprod unclaimed",
	}, {
		name: "an entry point that applies itself, and what is archived",
		files: "-- flux/config/cluster.yaml --\n" + kustomization("cluster", "./flux", "") + gitRepository("flux-system", "  url: https://example.com/x\n  ignore: |\n    /apps/secret\n") +
			"-- flux/apps.yaml --\n" + kustomization("apps", "./apps", "") +
			"-- apps/a.yaml --\n" + aConfigMap + "-- apps/secret/b.yaml --\n" + aConfigMap +
			"-- archive/ks.yaml --\n" + kustomization("old", "./apps", ""),
		want: `Kustomization/flux-system/apps (flux) apps
Kustomization/flux-system/cluster (flux) flux entry
apps/secret unclaimed
archive unclaimed`,
	}, {
		name: "a sync file beside what both clusters share",
		files: "-- clusters/a/kustomization.yaml --\nresources: [../../base, gotk-sync.yaml]\n" +
			"-- clusters/a/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/a", "") + gitRepository("flux-system", "  url: https://example.com/x\n") +
			"-- clusters/b/kustomization.yaml --\nresources: [../../base, gotk-sync.yaml]\npatches:\n- {target: {kind: Kustomization, name: apps}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/path\", \"value\": \"./apps/b\"}]'}\n" +
			"-- clusters/b/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/b", "") + gitRepository("flux-system", "  url: https://example.com/x\n") +
			"-- base/kustomization.yaml --\nresources: [apps.yaml]\n-- base/apps.yaml --\n" + kustomization("apps", "./apps/a", "") +
			"-- apps/a/a.yaml --\n" + aConfigMap + "-- apps/b/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/apps (clusters/a) apps/a
Kustomization/flux-system/flux-system (clusters/a) clusters/a entry
Kustomization/flux-system/apps (clusters/b) apps/b
Kustomization/flux-system/flux-system (clusters/b) clusters/b entry`,
	}, {
		name: "a cluster that another one applies, as files were copied",
		files: "-- clusters/a/all.yaml --\n" + kustomization("config", "./clusters/a", "") + gitRepository("flux-system", "  url: https://example.com/x\n") +
			"-- clusters/b/all.yaml --\n" + kustomization("config", "./clusters/a", "") + gitRepository("flux-system", "  url: https://example.com/x\n"),
		want: `Kustomization/flux-system/config (clusters/a) clusters/a entry
Kustomization/flux-system/config (clusters/b) clusters/a entry
clusters/b by hand`,
	}, {
		name: "archives beside a cluster that flux bootstrap applies",
		files: "-- archive/old/ks.yaml --\n" + kustomization("old", "./gone", "") + gitRepository("flux-system", "  url: https://example.com/x\n") +
			"-- cluster/apps.yaml --\n" + fromFleet("apps", "./apps") + "-- apps/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/apps (cluster) apps
Kustomization/flux-system/fleet (cluster) cluster entry
archive/old unclaimed`,
	}, {
		name: "manifests of a unit that cannot be built",
		files: "-- clusters/a/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/a", "") +
			"-- clusters/a/broken.yaml --\n" + kustomization("broken", "./broken", "  components: [../none]\n") +
			"-- broken/ks.yaml --\n" + kustomization("inner", "./broken", ""),
		want: "Kustomization/flux-system/broken (clusters/a) broken\nKustomization/flux-system/flux-system (clusters/a) clusters/a entry",
	}, {
		name:  "applied by hand",
		files: "-- deploy/all.yaml --\n" + kustomization("apps", "./apps", "") + gitRepository("flux-system", "  url: https://example.com/x\n") + "-- apps/a.yaml --\n" + aConfigMap,
		want:  "Kustomization/flux-system/apps (deploy) apps entry\ndeploy by hand",
	}, {
		name: "a FluxInstance",
		files: "-- deploy/instance.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec:\n  sync: {kind: GitRepository, url: https://example.com/x, path: prod}\n" +
			"-- prod/apps.yaml --\n" + kustomization("apps", "./apps", "") + "-- apps/a.yaml --\n" + aConfigMap,
		want: "Kustomization/flux-system/apps (prod) apps\nKustomization/flux-system/flux-system (prod) prod entry\ndeploy by hand",
	}, {
		name: "a FluxInstance with patches of its source and its Kustomization",
		files: "-- deploy/instance.yaml --\n" + instance(`
    - {target: {kind: Deployment, name: source-controller}, patch: '- {op: remove, path: /spec}'}
    - patch: "{apiVersion: v1, kind: ServiceAccount, metadata: {name: source-controller}, x: 1}"
    - {target: {kind: Kustom.*}, patch: "- {op: replace, path: /spec/path, value: ./other}\n- {op: add, path: /spec/postBuild, value: {substitute: {A: b}}}"}
    - {target: {kind: (Git|OCI)Repository}, patch: '- {op: add, path: /spec/ignore, value: /apps/b}'}
`) + "-- other/apps.yaml --\n" + kustomization("apps", "./apps", "") + "-- apps/a/a.yaml --\n" + aConfigMap + "-- apps/b/a.yaml --\n" + aConfigMap + "-- prod/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/apps (other) apps
Kustomization/flux-system/flux-system (other) other entry A=b
apps/b unclaimed
deploy by hand
prod unclaimed`,
	}, {
		name: "FluxInstances with patches that cannot be applied",
		files: "-- deploy/a/instance.yaml --\n" + strings.ReplaceAll(instance("\n    - patch: '- {op: remove, path: /spec}'\n"), "prod", "a") + "-- a/a.yaml --\n" + aConfigMap +
			"-- deploy/b/instance.yaml --\n" + strings.ReplaceAll(instance("\n    - {target: {kind: Kustomization}, patch: '{$patch: delete, apiVersion: a, kind: b, metadata: {name: c}}'}\n"), "prod", "b") + "-- b/a.yaml --\n" + aConfigMap +
			"-- deploy/c/instance.yaml --\n" + strings.ReplaceAll(instance("\n    - {target: {kind: Kustomization}, patch: '- {op: remove, path: /spec/sourceRef}'}\n"), "prod", "c") + "-- c/a.yaml --\n" + aConfigMap +
			"-- deploy/d/instance.yaml --\n" + strings.ReplaceAll(instance("\n    - {target: {kind: Kustomization}, patch: 'a: &a [*a]'}\n"), "prod", "d") + "-- d/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/flux-system (a) a entry failed deploy/a/instance.yaml:8:14: the patches of the FluxInstance cannot be applied: a JSON patch needs a target
Kustomization/flux-system/flux-system (b) b entry refused deploy/b/instance.yaml:7:5: the patches of the FluxInstance cannot be applied: they delete the Kustomization of spec.sync
Kustomization/flux-system/flux-system (c) deploy/c entry failed deploy/c/instance.yaml:5:3: spec.sourceRef needs a kind and a name
Kustomization/flux-system/flux-system (d) d entry refused deploy/d/instance.yaml:8:46: the patches of the FluxInstance cannot be applied: the anchor "a" holds an alias of itself
a unclaimed
b unclaimed
c unclaimed
d unclaimed
deploy/a by hand
deploy/b by hand
deploy/c by hand
deploy/d by hand`,
	}, {
		name: "patches of a FluxInstance that are not known",
		files: "-- start/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./start", "") +
			"-- start/a.yaml --\n" + kustomization("a", "./deploy/a", "  postBuild: {substituteFrom: [{kind: Secret, name: x}]}\n") + "---\n" + kustomization("b", "./deploy/b", "  postBuild: {substituteFrom: [{kind: Secret, name: x}]}\n") +
			"-- deploy/a/instance.yaml --\n" + strings.ReplaceAll(instance("\n    - {target: {kind: Kustomization}, patch: '- {op: add, path: /spec/namePrefix, value: \"${X}\"}'}\n"), "prod", "c/a") + "-- c/a/a.yaml --\n" + aConfigMap +
			"-- deploy/b/instance.yaml --\n" + strings.ReplaceAll(instance("\n    - {target: {kind: Deployment}, patch: '- {op: add, path: /spec/namePrefix, value: \"${X}\"}'}\n"), "prod", "c/b") + "-- c/b/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/flux-system (c/a) c/a entry refused deploy/a/instance.yaml:8:7: the field spec.kustomize.patches.0.patch of the FluxInstance is not known: it holds ${X}: Secret/flux-system/x, from which variables are substituted, is not in the repository
Kustomization/flux-system/flux-system (c/b) c/b entry
Kustomization/flux-system/a (start) deploy/a =Secret/flux-system/x, from which variables are substituted, is not in the repository
Kustomization/flux-system/b (start) deploy/b =Secret/flux-system/x, from which variables are substituted, is not in the repository
Kustomization/flux-system/flux-system (start) start entry
c/a unclaimed`,
	}, {
		name: "a FluxInstance with a patch in the values of its chart",
		files: "-- deploy/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux, namespace: flux-system}\nspec:\n  values:\n" +
			"    instance:\n      sync: {kind: GitRepository, url: https://example.com/x, path: prod}\n      kustomize: {patches: [{target: {kind: Kustomization}, patch: '- {op: add, path: /spec/suspend, value: true}'}]}\n" + "-- prod/a.yaml --\n" + aConfigMap,
		want: "Kustomization/flux-system/flux-system (prod) prod entry suspended\ndeploy by hand",
	}, {
		name: "a FluxInstance with patches in the values of a chart that a ResourceSet installs",
		files: "-- prod/set.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: flux, namespace: flux-system}\nspec:\n  inputs: [{path: prod}]\n  resources:\n" +
			"  - apiVersion: helm.toolkit.fluxcd.io/v2\n    kind: HelmRelease\n    metadata: {name: flux-instance, namespace: flux-system}\n    spec:\n      chartRef: {kind: OCIRepository, name: flux-instance}\n      values:\n" +
			"        instance:\n          sync: {kind: GitRepository, url: https://example.com/x, path: << inputs.path >>}\n          kustomize: {patches: [{target: {kind: Kustomization}, patch: '[{op: add, path: /spec/targetNamespace, value: x}]'}]}\n" +
			"-- prod/a.yaml --\n" + kustomization("a", "./apps", "") + "-- apps/a.yaml --\n" + aConfigMap,
		want: `ResourceSet/flux-system/flux (prod) prod
HelmRelease/flux-system/flux-instance (prod) prod refused prod/set.yaml:11:45: its chart OCIRepository/flux-system/flux-instance is not in the repository, so the source of the chart is not known
Kustomization/flux-system/a (prod) apps
Kustomization/flux-system/flux-system (prod) prod entry
gap Kustomization/flux-system/flux-system (prod): HelmRelease/flux-system/flux-instance, which is found among what it applies, has flux-operator make it with patches: they are not in what is rendered`,
	}, {
		name: "entry points that change themselves",
		files: "-- clusters/a/kustomization.yaml --\nresources: [../base, vars.yaml]\npatches: [{patch: \"" + `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: flux-system, namespace: flux-system}, spec: {path: ./clusters/a, postBuild: {substitute: {C: x, D: '${C}-y', E: '${D}-z'}, substituteFrom: [{kind: ConfigMap, name: vars}]}}}` + "\"}]\n" +
			"-- clusters/a/vars.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars, namespace: flux-system}\ndata: {F: f}\n" +
			"-- clusters/base/kustomization.yaml --\nresources: [all.yaml]\n-- clusters/base/all.yaml --\n" + kustomization("flux-system", "./clusters", "") + gitRepository("flux-system", "  url: https://example.com/x\n") +
			"-- clusters/b/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/b", "  postBuild: {substitute: {C: x, D: '${C}-y', E: '${D}-z'}}\n") + gitRepository("flux-system", "  url: https://example.com/x\n") +
			"-- clusters/c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/c", "  postBuild: {substitute: {C: 'x${C}'}}\n") +
			"-- clusters/d/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/d", "") +
			"-- clusters/d/kustomization.yaml --\nresources: [flux-system/gotk-sync.yaml]\npatches: [{target: {kind: Kustomization}, patch: '- {op: replace, path: /spec/path, value: ./clusters/d-new}'}]\n" +
			"-- clusters/d-new/a.yaml --\n" + aConfigMap +
			"-- clusters/e/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/e", "  postBuild: {substitute: {C: '${none}'}, substituteFrom: [{kind: Secret, name: none}]}\n") +
			"-- clusters/f/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./clusters/f", "  postBuild: {substitute: {C: '9', D: '${C}'}}\n") + "-- clusters/f/a.yaml --\n" + kustomization("a", "./clusters/d-new", ""),
		want: `Kustomization/flux-system/flux-system (clusters/a) clusters/a entry C=x D=x-y E=x-y-z F=f
Kustomization/flux-system/flux-system (clusters/b) clusters/b entry C=x D=x-y E=x-y-z
Kustomization/flux-system/flux-system (clusters/c) clusters/c entry refused clusters/c/flux-system/gotk-sync.yaml:4:1: Kustomization/flux-system/flux-system applies itself with another content each time: what is in effect depends on how often it was applied C=xxxxxx${C}
Kustomization/flux-system/flux-system (clusters/d) clusters/d-new entry
Kustomization/flux-system/flux-system (clusters/e) clusters/e entry =Secret/flux-system/none, from which variables are substituted, is not in the repository C=${none}it holds ${none}: Secret/flux-system/none, from which variables are substituted, is not in the repository
Kustomization/flux-system/flux-system (clusters/f) clusters/f entry failed clusters/f/flux-system/gotk-sync.yaml:4:1: not a Kustomization of Flux: json: cannot unmarshal number into Go struct field PostBuild.spec.postBuild.substitute of type string
clusters/d unclaimed
gap Kustomization/flux-system/flux-system (clusters/d): Kustomization/flux-system/flux-system applies itself with a content by which it does so no longer: whether it stays is not known`,
	}, {
		name: "an entry point of a FluxInstance that applies itself with another content",
		files: "-- deploy/instance.yaml --\n" + instance(" []\n") + "-- prod/a.yaml --\n" + kustomization("flux-system", "./prod", "  postBuild: {substitute: {A: b}}\n") +
			"-- prod/b.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/flux-system (prod) prod entry
deploy by hand
gap Kustomization/flux-system/flux-system (prod): Kustomization/flux-system/flux-system is made by a FluxInstance and, with another content, applies itself: which is in effect depends on when they are applied`,
	}, {
		name:  "an entry point of a FluxInstance that applies itself and spells its path otherwise",
		files: "-- deploy/instance.yaml --\n" + instance(" []\n") + "-- prod/a.yaml --\n" + kustomization("flux-system", "prod/", "") + "-- prod/b.yaml --\n" + aConfigMap,
		want:  "Kustomization/flux-system/flux-system (prod) prod entry\ndeploy by hand",
	}, {
		name: "objects that their parent leaves alone",
		files: "-- start/flux-system/gotk-sync.yaml --\n" + excluded(kustomization("flux-system", "./start", ""), "annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}") +
			"-- start/all.yaml --\n" + excluded(kustomization("a", "./apps/a", "  suspend: true\n"), "annotations: {kustomize.toolkit.fluxcd.io/reconcile: Disabled}") +
			"---\n" + excluded(kustomization("b", "./apps/b", ""), "labels: {kustomize.toolkit.fluxcd.io/ssa: ignore}") +
			"---\n" + kustomization("c", "./apps/c", "  commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Ignore}}\n") + "---\n" + kustomization("d", "./apps/d", "  postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}\n") +
			"-- apps/a/a.yaml --\n" + aConfigMap + "-- apps/b/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars, namespace: flux-system}\ndata: {A: b}\n" +
			"-- apps/c/a.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: c, namespace: flux-system}\nspec: {chart: {spec: {chart: ./charts/c, sourceRef: {kind: GitRepository, name: flux-system}}}}\n" +
			"-- charts/c/Chart.yaml --\n{apiVersion: v2, name: c, version: 1.0.0}\n-- apps/d/a.yaml --\n" + aConfigMap,
		want: `HelmRelease/flux-system/c (start) charts/c refused start/all.yaml:25:67: kustomize-controller does not apply this HelmRelease: it is not known whether the cluster has one, and with which content
Kustomization/flux-system/a (start) apps/a refused start/all.yaml:3:98: kustomize-controller does not apply this Kustomization: it is not known whether the cluster has one, and with which content
Kustomization/flux-system/b (start) apps/b refused start/all.yaml:12:87: kustomize-controller does not apply this Kustomization: it is not known whether the cluster has one, and with which content
Kustomization/flux-system/c (start) apps/c
Kustomization/flux-system/d (start) apps/d =ConfigMap/flux-system/vars, from which variables are substituted, is not in the repository
Kustomization/flux-system/flux-system (start) start entry`,
	}, {
		name:  "a FluxInstance of a tag",
		files: "-- deploy/instance.yaml --\n" + strings.ReplaceAll(instance(" []\n"), "refs/heads/main", "refs/tags/v1") + "-- prod/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/flux-system (prod) deploy entry refused deploy/instance.yaml:5:3: its source GitRepository/flux-system/flux-system has the revision refs/tags/v1 of this repository, not what the change makes of it, which is not fetched: preadmit fetch gets it
deploy by hand
prod unclaimed`,
	}, {
		name: "a FluxInstance that a chart makes, which is not there",
		files: "-- apps/flux/app/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux-instance, namespace: flux-system}\nspec:\n  chartRef: {kind: OCIRepository, name: flux-instance}\n" +
			"  values:\n    instance:\n      sync: {kind: GitRepository, url: https://example.com/x, path: apps}\n" +
			"-- apps/flux/ks.yaml --\n" + kustomization("flux-instance", "./apps/flux/app", "") + "-- apps/flux/kustomization.yaml --\nresources: [ks.yaml]\n" +
			"-- apps/web/kustomization.yaml --\nresources: [ks.yaml]\n-- apps/web/ks.yaml --\n" + kustomization("web", "./apps/web/app", "") + "-- apps/web/app/a.yaml --\n" + aConfigMap,
		want: `HelmRelease/flux-system/flux-instance (apps) apps/flux/app refused apps/flux/app/release.yaml:5:41: its chart OCIRepository/flux-system/flux-instance is not in the repository, so the source of the chart is not known
Kustomization/flux-system/flux-instance (apps) apps/flux/app
Kustomization/flux-system/flux-system (apps) apps entry
Kustomization/flux-system/web (apps) apps/web/app`,
	}, {
		name: "a FluxInstance that gets its namespace from who applies it",
		files: "-- prod/flux/instance/instance.yaml --\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\nspec:\n  sync: {kind: GitRepository, url: https://example.com/x, path: ./prod/sync}\n" +
			"-- prod/sync/apps.yaml --\n" + kustomization("apps", "./prod", "  targetNamespace: flux-system\n") + "-- prod/kustomization.yaml --\nresources: [flux/instance/instance.yaml]\n",
		want: "Kustomization/flux-system/apps (prod/sync) prod\nKustomization/flux-system/flux-system (prod/sync) prod/sync entry",
	}, {
		name: "sources that are other repositories, or nothing",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") +
			"-- c/a.yaml --\n" + strings.Replace(kustomization("a", "./", ""), "name: flux-system}\n", "name: podinfo}\n", 1) + gitRepository("podinfo", "  url: https://example.com/podinfo.git\n  ref: {tag: v1}\n") +
			"-- c/b.yaml --\n" + strings.Replace(kustomization("b", "./", ""), "name: flux-system}\n", "name: none}\n", 1) +
			"-- c/d.yaml --\n" + strings.Replace(kustomization("d", "./apps", ""), "name: flux-system}\n", "name: again}\n", 1) + gitRepository("again", "  url: ssh://git@example.com/me/x.git\n") +
			"-- apps/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{Remotes: []string{"https://token@example.com:443/me/x"}},
		want: `Kustomization/flux-system/a (c) c refused c/a.yaml:7:3: its source GitRepository/flux-system/podinfo is not this repository but https://example.com/podinfo.git, which is not fetched: preadmit fetch gets it
Kustomization/flux-system/b (c) c refused c/b.yaml:7:3: its source GitRepository/flux-system/none is not in the repository, so its content is not known
Kustomization/flux-system/d (c) apps
Kustomization/flux-system/flux-system (c) c entry`,
	}, {
		name: "this repository by other URLs",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") +
			"-- c/a.yaml --\n" + strings.Replace(kustomization("a", "./apps", ""), "name: flux-system}\n", "name: again}\n", 1) + gitRepository("again", "  url: ssh://git@ssh.github.com:443/me/X\n") +
			"-- c/b.yaml --\n" + strings.Replace(kustomization("b", "./apps", ""), "name: flux-system}\n", "name: other}\n", 1) + gitRepository("other", "  url: https://ssh.example.com/Me/x\n") +
			"-- apps/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{Remotes: []string{"https://github.com/Me/x.git", "https://example.com/me/x"}},
		want: `Kustomization/flux-system/a (c) apps
Kustomization/flux-system/b (c) c refused c/b.yaml:7:3: its source GitRepository/flux-system/other is not this repository but https://ssh.example.com/Me/x, which is not fetched: preadmit fetch gets it
Kustomization/flux-system/flux-system (c) c entry`,
	}, {
		name: "another branch of this repository",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") + gitRepository("flux-system", "  url: https://example.com/x/y\n  ref: {branch: stable}\n") +
			"-- c/a.yaml --\n" + strings.Replace(kustomization("a", "./apps", ""), "name: flux-system}\n", "name: team}\n", 1) + gitRepository("team", "  url: https://example.com/x/y\n  ref: {branch: team}\n") +
			"-- c/b.yaml --\n" + strings.Replace(kustomization("b", "./apps", ""), "name: flux-system}\n", "name: same}\n", 1) + gitRepository("same", "  url: https://example.com/x/y\n  ref: {name: refs/heads/stable}\n") +
			"-- apps/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/a (c) c refused c/a.yaml:7:3: its source GitRepository/flux-system/team has the branch team of this repository, another one than the cluster, which is not fetched: preadmit fetch gets it
Kustomization/flux-system/b (c) apps
Kustomization/flux-system/flux-system (c) c entry`,
	}, {
		name:  "a source with a pinned revision",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") + gitRepository("flux-system", "  url: https://example.com/x\n  ref: {tag: v1}\n") + "-- c/a.yaml --\n" + aConfigMap,
		want:  "Kustomization/flux-system/flux-system (c) c/flux-system entry refused c/flux-system/gotk-sync.yaml:7:3: its source GitRepository/flux-system/flux-system has the revision v1 of this repository, not what the change makes of it, which is not fetched: preadmit fetch gets it\nc unclaimed\nc/flux-system by hand",
	}, {
		name:  "a source with a pinned reference",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") + gitRepository("flux-system", "  url: https://example.com/x\n  ref: {branch: main, name: refs/tags/v1}\n") + "-- c/a.yaml --\n" + aConfigMap,
		want:  "Kustomization/flux-system/flux-system (c) c/flux-system entry refused c/flux-system/gotk-sync.yaml:7:3: its source GitRepository/flux-system/flux-system has the revision refs/tags/v1 of this repository, not what the change makes of it, which is not fetched: preadmit fetch gets it\nc unclaimed\nc/flux-system by hand",
	}, {
		name: "OCI artifacts of this repository, by tag and by range",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") +
			"-- c/a.yaml --\n" + fromOCI("a", "latest") + ociRepository("latest", "{tag: latest}") + "---\n" + fromOCI("b", "range") + ociRepository("range", "{semver: 1.x}") + "---\n" + fromOCI("d", "named") + ociRepository("named", "{semver: 1.x}") +
			"-- apps/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{Self: []string{"oci://example.com/x", "OCIRepository/flux-system/named"}},
		want: `Kustomization/flux-system/a (c) apps
Kustomization/flux-system/b (c) c refused c/a.yaml:22:3: its source OCIRepository/flux-system/range has the revision 1.x of this repository, not what the change makes of it, which is not fetched: preadmit fetch gets it
Kustomization/flux-system/d (c) apps
Kustomization/flux-system/flux-system (c) c entry`,
	}, {
		name: "suspended, another cluster, a path that leads out, and one to nothing",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") +
			"-- c/a.yaml --\n" + kustomization("a", "./apps", "  suspend: true\n") + "-- c/b.yaml --\n" + kustomization("b", "../../apps", "  kubeConfig: {secretRef: {name: other}}\n") +
			"-- c/d.yaml --\n" + kustomization("d", "./nothing", "") + "-- apps/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/a (c) apps suspended
Kustomization/flux-system/b (c) apps to c, kubeconfig flux-system/other
Kustomization/flux-system/d (c) nothing
Kustomization/flux-system/flux-system (c) c entry`,
	}, {
		name: "variables of ConfigMaps and Secrets, one of them made by the unit itself",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "  postBuild: {substituteFrom: [{kind: ConfigMap, name: vars}]}\n") +
			"-- c/vars.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars, namespace: flux-system}\ndata: {A: a, B: \"b\\nb\"}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: secret, namespace: flux-system}\ndata: {B: c2VjcmV0, C: '?'}\nstringData: {D: text}\n" +
			"-- c/apps.yaml --\n" + kustomization("apps", "./apps", "  postBuild: {substitute: {A: own}, substituteFrom: [{kind: ConfigMap, name: vars}, {kind: Secret, name: secret}, {kind: Secret, name: none, optional: true}, {kind: Secret, name: missing}]}\n") +
			"-- apps/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/apps (c) apps =Secret/flux-system/missing, from which variables are substituted, is not in the repository A=own B=secret C=C of Secret/flux-system/secret is not base64 D=text
Kustomization/flux-system/flux-system (c) c entry A=a B=bb`,
	}, {
		name: "names with variables where it is not known what applies them",
		files: "-- services/a/a.yaml --\n" + strings.Replace(fromFleet("a", "./apps"), "namespace: flux-system", "namespace: '${ns}'", 1) +
			"-- services/b/b.yaml --\n" + fromFleet("b", "./apps") + "-- apps/a.yaml --\n" + aConfigMap,
		want: `Kustomization/${ns}/a (services/a) apps refused services/a/a.yaml:4:1: the field metadata.namespace of the Kustomization is not known: it holds ${ns}: it is not known what applies services/a, nor the values of its variables
Kustomization/${ns}/fleet (services/a) services/a entry =it is not known what applies services/a, nor the values of its variables
Kustomization/flux-system/b (services/b) apps
Kustomization/flux-system/fleet (services/b) services/b entry`,
	}, {
		name: "Kustomizations that are not valid, or applied twice",
		files: "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") +
			"-- c/a.yaml --\n" + kustomization("a", "[1]", "") + "-- c/b.yaml --\n" + kustomization("b", "./b", "") + "-- c/d.yaml --\n" + kustomization("d", "./d", "") +
			"-- b/x.yaml --\n" + kustomization("x", "./apps", "") + "-- d/x.yaml --\n" + kustomization("x", "./apps", "  targetNamespace: y\n") + "-- apps/a.yaml --\n" + aConfigMap,
		want: `Kustomization/flux-system/a (c) c failed c/a.yaml:4:1: not a Kustomization of Flux: json: cannot unmarshal array into Go struct field Spec.spec.path of type string
Kustomization/flux-system/b (c) b
Kustomization/flux-system/d (c) d
Kustomization/flux-system/flux-system (c) c entry
Kustomization/flux-system/x (c) apps
gap Kustomization/flux-system/x (c): Kustomization/flux-system/x is applied by Kustomization/flux-system/b and, with another content, by Kustomization/flux-system/d: which is in effect depends on when they are applied`,
	}, {
		name: "ApplicationSets of the same name that two Applications apply",
		files: "-- apps/a.yaml --\n" + application("one", "sets/one") + "---\n" + application("two", "sets/two") +
			"-- sets/one/a.yaml --\n" + applicationSet("list: {elements: [{path: x, path.basename: a}]}", "") + "-- sets/two/a.yaml --\n" + applicationSet("list: {elements: [{path: x, path.basename: b}]}", "") +
			"-- x/a.yaml --\n" + aConfigMap,
		opts: deploy.Options{Self: []string{"https://example.com/fleet.git"}},
		want: `Application/argocd/a (in-cluster) x
Application/argocd/one (in-cluster) sets/one entry
Application/argocd/two (in-cluster) sets/two entry
apps by hand
gap Application/argocd/one (in-cluster): ApplicationSet/argocd/apps is applied by Application/argocd/one and, with another content, by Application/argocd/two: which is in effect depends on when they are applied`,
	}, {
		name:  "no deployer",
		files: "-- apps/a.yaml --\n" + aConfigMap,
		want:  "",
	}, {
		name: "only git generators name directories of the repository",
		files: "-- sets/a.yaml --\n" + applicationSet("matrix: {generators: [{list: {elements: [{n: a}]}}, {git: {repoURL: 'https://example.com/fleet.git', directories: [{path: 'apps/*'}]}}]}", "") +
			"---\n" + strings.Replace(applicationSet("git: {repoURL: 'https://example.com/other', directories: [{path: '*'}]}", ""), "name: apps", "name: other", 1) +
			"-- apps/a/a.yaml --\n" + aConfigMap + "-- docs/a.yaml --\n" + aConfigMap,
		want: `Application/argocd/a (in-cluster) apps/a entry
ApplicationSet/argocd/other (in-cluster) sets entry refused sets/a.yaml:16:32: the repository of the generator is not this one but https://example.com/other, which is not fetched: preadmit fetch gets it
docs unclaimed
sets by hand`,
	}, {
		name: "a directory that a plugin of Argo CD reads",
		files: "-- sets/a.yaml --\n" + applicationSet("git: {repoURL: 'https://example.com/fleet.git', directories: [{path: 'apps/*'}]}", ", plugin: {name: p}") +
			"-- apps/a/a.yaml --\n" + aConfigMap + "-- apps/a/part/a.yaml --\n" + aConfigMap + "-- apps/b.yaml --\n" + aConfigMap,
		want: "Application/argocd/a (in-cluster) apps/a entry\napps unclaimed\napps/a/part unclaimed\nsets by hand",
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, graph := expand(t, files(test.files), test.opts)
			found, err := r.Discover(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, drawn(graph, found)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// growing returns a substitution that makes the names of nested Kustomizations longer each time.
func growing(value string) string { return "  postBuild: {substitute: {N: '" + value + "'}}\n" }

// TestCycles expands Kustomizations that apply themselves, each other, or new ones without end.
func TestCycles(t *testing.T) {
	for name, text := range map[string]string{
		"itself":     "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") + "-- c/a.yaml --\n" + kustomization("a", "./c", ""),
		"each other": "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") + "-- c/a.yaml --\n" + kustomization("a", "./d", "") + "-- d/b.yaml --\n" + kustomization("b", "./c", ""),
		"under new names": "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") + "-- c/a.yaml --\n" + kustomization("a", "./x", growing("x")) +
			"-- x/a.yaml --\n" + kustomization("'a${N}'", "./x", growing("${N}x")),
		"twice as many": "-- c/flux-system/gotk-sync.yaml --\n" + kustomization("flux-system", "./c", "") + "-- c/a.yaml --\n" + kustomization("a", "./x", growing("x")) +
			"-- x/a.yaml --\n" + kustomization("'a${N}'", "./x", growing("${N}x")) + "---\n" + kustomization("'b${N}'", "./x", growing("${N}y")),
	} {
		t.Run(name, func(t *testing.T) {
			before := cputime.Used()
			_, graph := expand(t, files(text), deploy.Options{})
			if used := cputime.Used() - before; used.Seconds() > 60 {
				t.Errorf("took %v", used)
			}
			bounded := slices.ContainsFunc(graph.Units, func(root render.Root) bool { return root.Unit.Problem != nil })
			if endless := name == "under new names" || name == "twice as many"; endless != bounded {
				t.Errorf("%d units, some refused: %v", len(graph.Units), bounded)
			}
		})
	}
}

func TestMissingEntry(t *testing.T) {
	r, _ := expand(t, files("-- a/b.yaml --\n"+aConfigMap), deploy.Options{})
	found, err := r.Discover(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	_, err = deploy.Expand(context.Background(), r, found, deploy.Options{Entries: []string{"none"}})
	if entry := new(paths.EntryError); !errors.As(err, &entry) || entry.Dir != "none" {
		t.Errorf("%v", err)
	}
}
