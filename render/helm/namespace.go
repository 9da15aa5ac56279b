package helm

import (
	"context"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// namespaceOf returns the Namespace that Helm creates when it installs the release of a unit; nil for none
// (helm.sh/helm/v4/pkg/action, Install.RunWithContext). Post-renderers and spec.commonMetadata do not change it.
func namespaceOf(u *render.Unit) *render.Object {
	if u == nil || u.Release == nil || !u.Release.CreateNamespace {
		return nil
	}
	h, err := release.ParseHelmRelease(u.Object)
	if err != nil {
		return nil
	}
	name := h.ReleaseNamespace()
	metadata := map[string]any{"name": name, "labels": map[string]any{"name": name}}
	return &render.Object{
		JSON: tree.Encode(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}),
		Role: render.RoleNamespace,
	}
}

// namespacePlaces returns where the Namespace that Helm creates was written: its name and label are those of
// spec.targetNamespace.
func (o *traced) namespacePlaces() origin.Places {
	return origin.Places{Document: o.written("spec.install.createNamespace"), Find: func(field string, _ origin.Part) origin.Place {
		if field == "metadata.name" || field == "metadata.labels.name" {
			if place := o.root.Unit.Place(context.Background(), "spec.targetNamespace"); place.Found() {
				return place
			}
		}
		return origin.Place{Position: o.written("spec.install.createNamespace")}
	}}
}
