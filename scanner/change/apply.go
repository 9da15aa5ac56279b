package change

import (
	"bytes"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
)

// Labels and annotations of an object that change how a deployer applies it.
const (
	fluxGroup     = "kustomize.toolkit.fluxcd.io"
	fluxPrune     = fluxGroup + "/prune"
	fluxReconcile = fluxGroup + "/reconcile"
	fluxApply     = fluxGroup + "/ssa"
	// operatorPrune is the annotation of an object that flux-operator does not delete.
	operatorPrune = "fluxcd.controlplane.io/prune"
	fluxForce     = fluxGroup + "/force"
	operatorForce = "fluxcd.controlplane.io/force"
	argoOptions   = "argocd.argoproj.io/sync-options"
	// helmPolicy is the annotation of an object that Helm does not delete.
	helmPolicy = "helm.sh/resource-policy"
)

// hasMetadata reports whether a label or an annotation of an object has a value. Like controllers,
// it ignores case.
func hasMetadata(o *admission.Object, key, value string) bool {
	if !mentions(o, key) {
		return false
	}
	return strings.EqualFold(o.Labels()[key], value) || strings.EqualFold(annotation(o, key), value)
}

// mentions reports whether a text is among the keys and string values of an object.
func mentions(o *admission.Object, text string) bool {
	data, _ := o.JSON() // a rendered object always encodes
	return bytes.Contains(data, []byte(`"`+text+`"`))
}

func annotation(o *admission.Object, key string) string {
	metadata, _ := o.Content()["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	value, _ := annotations[key].(string)
	return value
}

// IsForced reports whether Flux deletes an object and creates it again to change an immutable field, because of
// spec.force of its Kustomization, an annotation of its ResourceSet, or the object's own metadata.
func IsForced(root render.Root, o *admission.Object) bool {
	switch {
	case root.Unit == nil:
		return hasMetadata(o, fluxForce, "enabled")
	case root.Kind == render.KindFlux:
		return root.Unit.Apply.Force || hasMetadata(o, fluxForce, "enabled")
	case root.Kind == render.KindResourceSet:
		return root.Unit.Apply.Force || hasMetadata(o, operatorForce, "enabled")
	}
	return false
}

// LacksNamespace reports whether kustomize-controller or flux-operator fails to apply an object, if its kind is
// namespaced: they set no namespace on objects without one.
func LacksNamespace(o *admission.Object) bool {
	origin, _ := o.Tag.(Origin) // objects of a cluster have no Origin
	root := origin.Root
	return root.Unit != nil && (root.Kind == render.KindFlux || root.Kind == render.KindResourceSet) && o.Namespace() == ""
}

// SyncOption reports whether Argo CD applies an object with a sync option, such as Replace, set on the object or its
// Application. An object can override its Application only for ServerSideApply (gitops-engine, pkg/sync, applyObject
// and shouldUseServerSideApply).
func SyncOption(root render.Root, o *admission.Object, name string) bool {
	switch said := syncOption(o, name); {
	case said == "true":
		return true
	case said == "false" && name == serverSideApply:
		return false
	}
	return root.Unit != nil && slices.Contains(root.Unit.Apply.SyncOptions, name+"=true")
}

// syncOption returns the value of an Argo CD sync option on an object, empty if it is not set.
func syncOption(o *admission.Object, name string) string {
	if !mentions(o, argoOptions) {
		return ""
	}
	for option := range strings.SplitSeq(annotation(o, argoOptions), ",") {
		if said, value, _ := strings.Cut(strings.TrimSpace(option), "="); said == name {
			return value
		}
	}
	return ""
}

// isSkipped reports whether the deployer of a root does not apply an object.
func isSkipped(root render.Root, o *admission.Object) bool {
	return root.Kind == render.KindFlux && (hasMetadata(o, fluxReconcile, "disabled") || hasMetadata(o, fluxApply, "Ignore"))
}

// OnlyCreates reports whether the deployer of a root creates an object and never updates it.
func OnlyCreates(root render.Root, o *admission.Object) bool {
	return root.Kind == render.KindFlux && hasMetadata(o, fluxApply, "IfNotPresent") || RoleOf(o) == render.RoleNamespace && !IsManaged(o)
}

// IsManaged reports whether a sync of Argo CD keeps the labels and annotations of a Namespace that it creates.
func IsManaged(o *admission.Object) bool { return syncOption(o, serverSideApply) == "true" }

// serverSideApply is a sync option of Argo CD.
const serverSideApply = "ServerSideApply"

// Fate is what happens in the cluster to the objects of a root that the head does not have.
type Fate int

const (
	// Deleted: the deployer deletes them, unless an object's own metadata prevents it.
	Deleted Fate = iota
	// Left: they stay in the cluster, and nothing applies them any more.
	Left
	// Kept: the object that applies them stays in the cluster and continues to apply them.
	Kept
	// Undecided: it is not known, for a reason that is reported elsewhere.
	Undecided
	// Ended: an entry point was removed, and it is not known how it is uninstalled.
	Ended
)

// FateOf returns what happens to the objects of a root of the base that is gone.
func (c *Change) FateOf(root render.Root) Fate {
	if root.Unit == nil || root.Unit.Release != nil && root.Unit.Release.Own {
		return Deleted
	}
	switch parent := c.parentFate(root); {
	case parent != Deleted:
		return parent
	case root.Unit.Apply.Deletes():
		return Deleted
	}
	return Left
}

// RunsDeletionHooks reports whether the deletion hooks of a unit of the base run: Helm runs them when it removes a
// release, Argo CD whenever an Application is deleted.
func (c *Change) RunsDeletionHooks(root render.Root) bool {
	if root.Unit == nil || c.isElsewhere(root) || Suspended(root) {
		return false
	}
	if root.Kind == render.KindArgoCD {
		return c.parentFate(root) == Deleted
	}
	return c.FateOf(root) == Deleted
}

// Earlier returns the objects of a root at base, also if its unit had another parent then.
func (c *Change) Earlier(base, head *Rendered) []*admission.Object {
	if base != nil || c.Base == nil || head.Root.Object == (render.ObjectRef{}) {
		return base.All()
	}
	for _, was := range c.Base.Found.Roots {
		if was.Object == head.Root.Object && was.Cluster == head.Root.Cluster && !changedCluster(was.Unit, head.Root.Unit) {
			return c.Base.Roots[c.Base.ID(was)].All()
		}
	}
	return nil
}

// isElsewhere reports whether the head has the object of a unit of the base, whatever its parent.
func (c *Change) isElsewhere(root render.Root) bool {
	return root.Object != (render.ObjectRef{}) && slices.ContainsFunc(c.Head.Found.Roots, func(now render.Root) bool {
		return now.Object == root.Object && now.Cluster == root.Cluster
	})
}

// parentFate returns what happens to the object of a unit that is gone.
func (c *Change) parentFate(root render.Root) Fate {
	parent := root.Unit.Parent
	if fate, ok := c.generatedFate(root); ok {
		return fate
	}
	if root.Unit.Entry || parent == (render.RootID{}) {
		return Ended
	}
	o := c.Base.object(parent, root.Unit.Index)
	if now, ok := c.Head.Root(parent); ok {
		r := c.Head.Roots[now.RootID]
		switch {
		case r != nil && r.Problem != nil || c.LacksMore(parent):
			return Undecided
		case c.Removes(parent, o):
			return Deleted
		}
		return Kept
	}
	before, ok := c.Base.Root(parent)
	if !ok {
		return Undecided
	}
	switch fate := c.FateOf(before); {
	case fate == Left || fate == Deleted && o != nil && hasMetadata(o, fluxPrune, "disabled"):
		return Kept
	default:
		return fate
	}
}

// generatedFate returns what happens to an Application that an ApplicationSet no longer generates: its controller
// deletes it, unless the set preserves Applications. ok is false for other units, and if the ApplicationSet is gone
// too.
func (c *Change) generatedFate(root render.Root) (fate Fate, ok bool) {
	if root.Unit.Application == nil || root.Unit.Application.Set == (render.ObjectRef{}) {
		return Deleted, false
	}
	set := root.Unit.Application.Set
	for _, now := range c.Head.Graph.Units {
		if now.Object == set { // it generates nothing, for a reason that is reported
			return Undecided, true
		}
	}
	was, _ := c.Base.Graph.Set(root.Cluster, set)
	switch now, ok := c.Head.Graph.Set(root.Cluster, set); {
	case !ok && was.Keeps: // the controller takes off that the ApplicationSet is their owner
		return Kept, true
	case !ok:
		return Deleted, false
	case now.Keeps:
		return Kept, true
	}
	return Deleted, true
}

// Removes reports whether an object is deleted from the cluster when its root no longer renders it.
func (c *Change) Removes(id render.RootID, o *admission.Object) bool {
	root, ok := c.Head.Root(id)
	if !ok {
		before, there := c.Base.Root(id)
		if there && before.Unit != nil && c.FateOf(before) != Deleted {
			return false
		}
		root = before
	} else if root.Unit != nil && (root.Unit.Apply.Suspended || !root.Unit.Apply.Prune) || c.LacksMore(id) {
		return false
	}
	switch {
	case root.Unit == nil || o == nil:
		return true
	case root.Kind == render.KindResourceSet:
		return !hasMetadata(o, operatorPrune, "disabled")
	case root.Kind == render.KindHelm:
		return RoleOf(o) == render.RoleObject && !hasMetadata(o, helmPolicy, "keep")
	case root.Kind == render.KindArgoCD:
		option := "Prune"
		if !ok { // the Application is gone
			option = "Delete"
		}
		return RoleOf(o) == render.RoleObject && syncOption(o, option) != "false" && !hasMetadata(o, helmPolicy, "keep")
	}
	return !hasMetadata(o, fluxPrune, "disabled") && !isSkipped(root, o) && !c.Head.Roots[id].skips(o)
}

// skips reports whether the head has an object of the base among those that the deployer does not apply: it stays in
// the inventory of a Kustomization.
func (r *Rendered) skips(o *admission.Object) bool {
	return r != nil && slices.ContainsFunc(r.Skipped, func(s *admission.Object) bool {
		return s.GroupVersionKind().GroupKind() == o.GroupVersionKind().GroupKind() && s.Namespace() == o.Namespace() && s.Name() == o.Name()
	})
}

// Applies reports whether the deployer of a root makes a request to create or update an object. For definitions in
// crds/ of a chart this depends on the CRD policy of the release: by default only an installation creates them.
func Applies(root render.Root, o *admission.Object, update bool) bool {
	if root.Kind != render.KindHelm || root.Unit.Release == nil || RoleOf(o) != render.RoleDefinition {
		return true
	}
	switch root.Unit.Release.CRDs() {
	case "CreateReplace":
		return true
	case "Create":
		return !update
	}
	return false
}

// object returns an object of a root of the tree by its index; nil if it is not known.
func (s *Side) object(id render.RootID, index int) *admission.Object {
	root, ok := s.Root(id)
	if !ok {
		return nil
	}
	for _, o := range s.Roots[s.ID(root)].All() {
		if OriginOf(o).Index == index {
			return o
		}
	}
	return nil
}

// Suspend replaces the head's version of suspended units with the base's version, since the head's is not applied.
func (c *Change) Suspend() {
	for _, root := range c.Head.Found.Roots {
		r := c.Head.Roots[root.RootID]
		if root.Unit == nil || !root.Unit.Apply.Suspended || r == nil {
			continue
		}
		before := (*Rendered)(nil)
		if c.Base != nil {
			before = c.Base.Roots[root.RootID]
		}
		if before == nil || before.Problem != nil {
			before = &Rendered{Result: &render.Result{Root: root, Trace: r.Trace}, ID: root.RootID}
			if c.Base != nil {
				c.Base.Roots[root.RootID] = before
			}
		}
		c.Head.Roots[root.RootID] = before
	}
}

// Suspended reports whether a root is a unit that is suspended.
func Suspended(root render.Root) bool { return root.Unit != nil && root.Unit.Apply.Suspended }

// Left returns the objects of a root of the base that the head does not have and that stay in the cluster, in order.
func (c *Change) Left(id render.RootID) []*admission.Object {
	base, head := c.Base.Roots[id], c.Head.Roots[id]
	if base == nil || base == head || base.Problem != nil || base.Root.Unit == nil || head != nil && head.Problem != nil {
		return nil
	}
	if head != nil && changedCluster(base.Root.Unit, head.Root.Unit) {
		return base.Objects
	}
	now := byName(head.All())
	return slices.DeleteFunc(slices.Clone(base.Objects), func(o *admission.Object) bool { return now[namesakeOf(o)] != nil || c.Removes(id, o) })
}

// namesakeIn identifies an object by kind, namespace and name, as they are written.
type namesakeIn struct {
	schema.GroupKind
	namespace, name string
}

func namesakeOf(o *admission.Object) namesakeIn {
	return namesakeIn{o.GroupVersionKind().GroupKind(), o.Namespace(), o.Name()}
}
