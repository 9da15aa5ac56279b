package gaps

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/target"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	sourceGroup = "source.toolkit.fluxcd.io"
	// operatorGroup is the group of flux-operator.
	operatorGroup = "fluxcd.controlplane.io"
)

// deploying returns a description of the objects that a controller deploys because of an object and that are not
// rendered; empty for other kinds. Kustomizations of Flux are not included, since they are units.
func deploying(kind schema.GroupKind, o *admission.Object) string {
	switch kind.Group + "/" + kind.Kind {
	case "helm.toolkit.fluxcd.io/HelmRelease":
		return "the objects of " + chartOf(o)
	case "helm.cattle.io/HelmChart", "helm.cattle.io/HelmChartConfig":
		return "the objects of its chart"
	case "source.toolkit.fluxcd.io/OCIRepository", "source.toolkit.fluxcd.io/HelmRepository", "source.toolkit.fluxcd.io/HelmChart":
		return "the objects of charts and directories that come from it"
	case "fluxcd.controlplane.io/ResourceSet", "fluxcd.controlplane.io/ResourceSetInputProvider", "fluxcd.controlplane.io/FluxInstance":
		return "the objects that flux-operator makes of it"
	case "argoproj.io/Application", "argoproj.io/ApplicationSet":
		return "the objects that Argo CD deploys for it"
	}
	return ""
}

// chartOf returns a description of the chart of a HelmRelease.
func chartOf(o *admission.Object) string {
	text := func(fields ...string) string {
		var at any = o.Content()
		for _, f := range fields {
			m, _ := at.(map[string]any)
			at = m[f]
		}
		s, _ := at.(string)
		return s
	}
	if name := text("spec", "chart", "spec", "chart"); name != "" {
		return strings.TrimSpace("chart " + name + " " + text("spec", "chart", "spec", "version"))
	}
	if name := text("spec", "chartRef", "name"); name != "" {
		return "the chart of " + text("spec", "chartRef", "kind") + " " + name
	}
	return "its chart"
}

// Deploying adds changed objects that make a controller deploy others which are not rendered, sources whose URL or
// revision changes, and changed ConfigMaps and Secrets with values for charts.
func (l *Ledger) Deploying(t *target.Target, pairs []target.Pair) {
	for _, p := range pairs {
		if p.Same {
			continue
		}
		o := p.Object()
		kind := o.GroupVersionKind().GroupKind()
		if l.isFollowed(t, p) {
			continue
		}
		if what := deploying(kind, o); what != "" && !l.isRendered(t, p) {
			l.AddObject(Object, o, p.Key, what+" are not judged")
			continue
		}
		if sourceChanged(p) && !l.isRendered(t, p) {
			l.AddObject(Object, o, p.Key, "it is turned to another URL or revision: what that has is not judged")
			continue
		}
		if kind != (schema.GroupKind{Kind: "ConfigMap"}) && kind != (schema.GroupKind{Kind: "Secret"}) {
			continue
		}
		for _, release := range t.Head.Releases {
			if takesValues(release, p.Key) && !l.isUnit(t, t.Head.Cluster.Key(release)) {
				l.AddObject(Object, o, p.Key, fmt.Sprintf("it has values of HelmRelease %s: %s are not judged", release.Name(), deploying(release.GroupVersionKind().GroupKind(), release)))
			}
		}
	}
}

// isFollowed reports whether the objects that are deployed because of an object are judged, or reported, as units:
// HelmReleases and ResourceSets are units themselves, and if a unit applies a source of charts, the releases that use
// it are units.
func (l *Ledger) isFollowed(t *target.Target, p target.Pair) bool {
	switch kind := p.Object().GroupVersionKind(); {
	case kind.GroupKind() == kinds.HelmRelease, kind.Group == operatorGroup && kind.Kind != "FluxInstance":
		return l.isUnit(t, p.Key)
	case kind.Group == "argoproj.io":
		return l.IsArgo(t.Cluster, render.ObjectRef{Group: p.Key.Group, Kind: p.Key.Kind, Namespace: p.Key.Namespace, Name: p.Key.Name})
	case kind.Group == "source.toolkit.fluxcd.io" && slices.Contains([]string{"OCIRepository", "HelmRepository", "HelmChart"}, kind.Kind):
		return change.OriginOf(p.Object()).Root.Unit != nil
	}
	return false
}

func (l *Ledger) isUnit(t *target.Target, key admission.Key) bool {
	return l.IsUnit(t.Cluster, render.ObjectRef{Group: key.Group, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name})
}

// sourceChanged reports whether a request changes the repository or the revision of a source of Flux, so that its new
// content is not in the trees of the change.
func sourceChanged(p target.Pair) bool {
	if p.Base == nil || p.Head == nil || p.Head.GroupVersionKind().Group != sourceGroup {
		return false
	}
	before, _ := p.Base.Content()["spec"].(map[string]any)
	now, _ := p.Head.Content()["spec"].(map[string]any)
	return slices.ContainsFunc([]string{"url", "ref", "bucketName", "endpoint", "prefix", "include"}, func(field string) bool {
		return !reflect.DeepEqual(before[field], now[field])
	})
}

// isRendered reports whether the head's content of a source of Flux is judged: units use it, and every HelmRelease
// with a chart of it is a unit.
func (l *Ledger) isRendered(t *target.Target, p target.Pair) bool {
	if p.Head == nil || p.Head.GroupVersionKind().Group != sourceGroup {
		return false
	}
	spec, _ := p.Head.Content()["spec"].(map[string]any)
	if slices.ContainsFunc(t.Head.Releases, func(o *admission.Object) bool {
		return takesChart(o, p.Key.Name) && !l.isUnit(t, t.Head.Cluster.Key(o))
	}) {
		return false
	}
	return slices.ContainsFunc(t.Head.Roots, func(r *change.Rendered) bool {
		u := r.Root.Unit
		return u.IsElsewhere() && u.Artifact.URL == spec["url"]
	})
}

// takesChart reports whether a HelmRelease takes its chart from a source with a name.
func takesChart(o *admission.Object, name string) bool {
	for _, path := range [][]string{{"spec", "chartRef", "name"}, {"spec", "chart", "spec", "sourceRef", "name"}} {
		if is, _, _ := unstructured.NestedString(o.Content(), path...); is == name {
			return true
		}
	}
	return false
}

// takesValues reports whether a HelmRelease takes values from a ConfigMap or Secret.
func takesValues(o *admission.Object, key admission.Key) bool {
	if o.Namespace() != key.Namespace {
		return false
	}
	spec, _ := o.Content()["spec"].(map[string]any)
	from, _ := spec["valuesFrom"].([]any)
	for _, item := range from {
		if ref, _ := item.(map[string]any); ref["kind"] == key.Kind && ref["name"] == key.Name {
			return true
		}
	}
	return false
}
