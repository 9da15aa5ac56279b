package argocd

import (
	"context"
	"maps"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/scope"
	"github.com/preadmit/preadmit/render/tree"
)

// syncOptions is the annotation with sync options for a single object.
const syncOptions = "argocd.argoproj.io/sync-options"

// createdNamespace returns the Namespace that a sync creates with CreateNamespace=true, with the labels and annotations
// of managedNamespaceMetadata; nil for none (gitops-engine, autoCreateNamespace; Argo CD, syncNamespace). objects are
// the objects of the Application, which may include the Namespace.
func (u *unit) createdNamespace(objects []*render.Object) *render.Object {
	spec := &u.app.Spec
	name := spec.Destination.Namespace
	managed := spec.SyncPolicy != nil && spec.SyncPolicy.ManagedNamespaceMetadata != nil
	if name == "" || !spec.HasOption("CreateNamespace=true") || !managed && scope.IsInitial(name) {
		return nil
	}
	for _, o := range objects {
		group, _, kind := groupKindOf(o.Content())
		if _, other := o.KindAndName(); group == "" && kind == "Namespace" && other == name {
			return nil
		}
	}
	metadata := map[string]any{"name": name}
	if managed {
		given := spec.SyncPolicy.ManagedNamespaceMetadata
		annotations := maps.Clone(given.Annotations)
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[syncOptions] = joinOptions(annotations[syncOptions], "ServerSideApply=true")
		metadata["annotations"] = contentOf(annotations)
		if len(given.Labels) > 0 {
			metadata["labels"] = contentOf(given.Labels)
		}
	}
	return &render.Object{
		JSON:  tree.Encode(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}),
		Index: len(objects), Role: render.RoleNamespace,
	}
}

func contentOf(m map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range m {
		out[key] = value
	}
	return out
}

func joinOptions(have, more string) string {
	if have == "" {
		return more
	}
	return have + "," + more
}

// namespaceOrigin returns the origin of the created Namespace: its name is written in the destination, labels and
// annotations in managedNamespaceMetadata.
func (u *unit) namespaceOrigin() *origin.Origin {
	return origin.New(func() origin.Places {
		return origin.Places{Document: u.written("spec.syncPolicy.syncOptions"), Find: func(field string, _ origin.Part) origin.Place {
			at := "spec.syncPolicy.managedNamespaceMetadata." + strings.TrimPrefix(field, "metadata.")
			if field == "metadata.name" {
				at = "spec.destination.namespace"
			}
			if place := u.root.Unit.Place(context.Background(), at); place.Found() {
				return place
			}
			if at := u.written("spec.syncPolicy.managedNamespaceMetadata"); field != "metadata.name" && u.app.Spec.SyncPolicy.ManagedNamespaceMetadata != nil {
				return origin.Place{Position: at}
			}
			return origin.Place{Position: u.written("spec.syncPolicy.syncOptions")}
		}}
	})
}
