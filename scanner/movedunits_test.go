package scanner_test

import (
	"strings"
	"testing"
)

// unitsOf has the policies of immutable and a Flux cluster with two Kustomizations and a HelmRelease, all in one
// namespace.
const unitsOf = immutable + fluxCluster + `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system}
spec: {interval: 1m, path: ./a, prune: true, targetNamespace: default, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: b, namespace: flux-system}
spec: {interval: 1m, path: ./b, prune: true, targetNamespace: default, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: default}
spec:
  interval: 1h
  chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
-- charts/web/Chart.yaml --
apiVersion: v2
name: web
version: 0.1.0
-- a/ns.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: default}
-- b/ns.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: default}
`

// An object that moves from one unit of a cluster to another is updated, even if the two share other objects,
// unless the deployer of the first deletes it whoever has applied it.
func TestMovedBetweenUnits(t *testing.T) {
	other := cm("a/z.yaml", "z", "1") + cm("b/y.yaml", "y", "1") + cm("charts/web/templates/w.yaml", "w", "1")
	const a, b, chart = "a/x.yaml", "b/x.yaml", "charts/web/templates/x.yaml"
	kept := strings.Replace(cm(chart, "x", "1"), "{name: x}", "{name: x, annotations: {helm.sh/resource-policy: keep}}", 1)
	const set = "clusters/main/set.yaml"
	resources := func(value string) string {
		return "-- " + set + ` --
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: set, namespace: flux-system}
spec:
  resources:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: s, namespace: default}, data: {a: "1"}}
` + value
	}
	const x = "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default}, data: {a: \"2\"}}\n"
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"between Kustomizations": {cm(a, "x", "1"), cm(b, "x", "2"), []string{denied(b, "UPDATE", "was 1")}},
		"out of a release":       {cm(chart, "x", "1"), cm(a, "x", "2"), []string{denied(a, "CREATE", "created"), denied(chart, "DELETE", "deleted")}},
		"into a release":         {cm(a, "x", "1"), cm(chart, "x", "2"), []string{denied(a, "DELETE", "deleted"), denied(chart, "CREATE", "created")}},
		"out of a ResourceSet":   {resources(x), resources("") + cm(a, "x", "1"), []string{denied(a, "CREATE", "created"), denied(set, "DELETE", "deleted")}},
		"into a ResourceSet":     {resources("") + cm(a, "x", "1"), resources(x), []string{denied(set, "UPDATE", "was 1")}},
		"what a release keeps":   {kept, cm(a, "x", "2"), []string{denied(a, "UPDATE", "was 1")}},
	} {
		t.Run(name, func(t *testing.T) {
			wantReport(t, mustScan(t, input(unitsOf+other+test.base, unitsOf+other+test.head)), test.want...)
		})
	}
}

// An object that Flux no longer applies because of its metadata stays in the inventory of its Kustomization.
func TestWhatIsLeftAloneIsNotDeleted(t *testing.T) {
	for _, annotation := range []string{"reconcile: disabled", "ssa: Ignore"} {
		now := strings.Replace(cm("a/x.yaml", "x", "2"), "{name: x}", "{name: x, annotations: {kustomize.toolkit.fluxcd.io/"+annotation+"}}", 1)
		wantReport(t, mustScan(t, input(unitsOf+cm("a/x.yaml", "x", "1"), unitsOf+now)))
		wantReport(t, mustScan(t, input(unitsOf+cm("a/x.yaml", "x", "1"), unitsOf)), denied("a/x.yaml", "DELETE", "deleted"))
	}
}

// If a Kustomization is renamed, or moves objects to a new one that it applies itself, the objects are deleted
// before the new one applies them. Objects that move to an existing Kustomization, or to the one that applied
// it, are updated.
func TestMovedToNewUnits(t *testing.T) {
	kustomization := func(name, prune string) string {
		return "-- clusters/main/c.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
			"spec: {interval: 1m, path: ./c, prune: " + prune + ", targetNamespace: default, sourceRef: {kind: GitRepository, name: flux-system}}\n"
	}
	c := kustomization("c", "true")
	outer := func(value string) string {
		return strings.Replace(cm("clusters/main/x.yaml", "x", value), "{name: x}", "{name: x, namespace: default}", 1)
	}
	release := "-- c/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: app}\n" +
		"spec: {interval: 1h, chart: {spec: {chart: charts/web, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}}\n"
	const inner, b = "c/x.yaml", "b/x.yaml"
	warned := func(unit, message string) string {
		return "warning Kustomization/flux-system/" + unit + " (clusters/main): Kustomization/flux-system/" + message + "; prune: false, in a change before this one, would keep them"
	}
	for name, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"renamed": {c + cm(inner, "x", "1"), kustomization("d", "true") + cm(inner, "x", "1"), []string{
			denied(inner, "DELETE", "deleted"), denied(inner, "CREATE", "created"),
			warned("d", "c, which is gone, deletes 1 object before this one applies it")}},
		"renamed without prune": {kustomization("c", "false") + cm(inner, "x", "1"), kustomization("d", "true") + cm(inner, "x", "1"), nil},
		"renamed, with a release": {c + release, kustomization("d", "true") + release, []string{
			warned("d", "c, which is gone, deletes 1 object before this one applies it, and so what HelmReleases, Kustomizations and ResourceSets among them have applied, which is judged as if it stayed")}},
		"to a new one that it applies": {outer("1"), c + cm(inner, "x", "1"), []string{
			denied(inner, "CREATE", "created"), denied("clusters/main/x.yaml", "DELETE", "deleted"),
			warned("c", "flux-system, which applies this one, deletes 1 object before this one applies it")}},
		"to the one that applied it": {c + cm(inner, "x", "1"), outer("2"), []string{denied("clusters/main/x.yaml", "UPDATE", "was 1")}},
		"to one that is there":       {c + cm(inner, "x", "1"), cm(b, "x", "2"), []string{denied(b, "UPDATE", "was 1")}},
		"to a new one beside it":     {cm(b, "x", "1"), c + cm(inner, "x", "2"), []string{denied(inner, "UPDATE", "was 1")}},
	} {
		t.Run(name, func(t *testing.T) {
			wantReport(t, mustScan(t, input(unitsOf+test.base, unitsOf+test.head)), test.want...)
		})
	}
}

// If a Namespace of one unit of a cluster is added to another unit, that unit updates it.
func TestSharedNamespaces(t *testing.T) {
	units := strings.NewReplacer("[configmaps]", "[namespaces]", " || object.data == oldObject.data", "", "'was ' + oldObject.data.a", "'updated'").Replace(unitsOf)
	app := `-- clusters/main/c.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: c, namespace: flux-system}
spec: {interval: 1m, path: ./c, prune: true, targetNamespace: default, sourceRef: {kind: GitRepository, name: flux-system}}
-- c/ns.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: default}
`
	wantReport(t, mustScan(t, input(units, units+app)), "existing Deny validation c/ns.yaml UPDATE Namespace /default: updated [inForce]")
	wantReport(t, mustScan(t, input(units, units+strings.ReplaceAll(app, " default", " shop"))), "new Deny validation c/ns.yaml CREATE Namespace /shop: created [inForce]")
	d := strings.Replace(app, "{name: c,", "{name: d,", 1)
	wantReport(t, mustScan(t, input(units+app, units+d)), "existing Deny validation c/ns.yaml UPDATE Namespace /default: updated [inForce]")
}
