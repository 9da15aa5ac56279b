package change

import (
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// KeepDefinitions replaces the definitions in crds/ of upgraded releases of the head by those of the base:
// helm-controller replaces none unless upgrade.crds is CreateReplace, and creates new ones only if it is Create.
// Definitions that other roots of the cluster apply do not change. given are objects of the cluster outside the trees.
func (c *Change) KeepDefinitions(given []*admission.Object) {
	if c.Base == nil {
		return
	}
	var applied map[namesakeOn]bool
	for _, root := range c.Head.Found.Roots {
		base, head := c.Base.Roots[root.RootID], c.Head.Roots[root.RootID]
		if head == nil || head.Problem != nil || base == nil || base == head || base.Problem != nil || !keepsDefinitions(root) || changedCluster(base.Root.Unit, root.Unit) {
			continue
		}
		kept := *head
		kept.Objects = slices.Clone(head.Objects)
		for i, o := range head.Objects {
			if RoleOf(o) != render.RoleDefinition {
				continue
			}
			was := definitionIn(base, o)
			if Equal(was, o) || was == nil && Applies(root, o, false) {
				continue
			}
			if applied == nil {
				applied = c.definitionsApplied()
			}
			if applied[namesakeOn{root.Unit.Cluster, namesakeOf(o)}] {
				continue
			}
			if there := definitionAmong(given, o); there != nil {
				kept.Objects[i] = there
			} else if kept.Objects[i] = was; was == nil || !reflect.DeepEqual(was.Content()["spec"], o.Content()["spec"]) {
				kept.Unapplied = append(kept.Unapplied, o)
			}
			c.Head.Roots[root.RootID] = &kept
		}
		kept.Objects = slices.DeleteFunc(kept.Objects, func(o *admission.Object) bool { return o == nil })
	}
}

// namesakeOn is the name of an object in a cluster.
type namesakeOn struct {
	cluster string
	namesakeIn
}

// definitionsApplied returns the CustomResourceDefinitions that roots of the head apply, without those in crds/ of
// releases that keep the definitions of the base.
func (c *Change) definitionsApplied() map[namesakeOn]bool {
	applied := map[namesakeOn]bool{}
	for _, root := range c.Head.Found.Roots {
		for _, o := range c.Head.Roots[root.RootID].All() {
			if o.GroupVersionKind().GroupKind() != kinds.Definition || RoleOf(o) == render.RoleDefinition && keepsDefinitions(root) {
				continue
			}
			for _, cluster := range c.ClustersOn(c.Head, root.RootID) {
				applied[namesakeOn{cluster, namesakeOf(o)}] = true
			}
		}
	}
	return applied
}

// keepsDefinitions reports whether a root is a release that does not replace definitions in crds/ of its chart.
func keepsDefinitions(root render.Root) bool {
	if root.Kind != render.KindHelm || root.Unit == nil || root.Unit.Release == nil || root.Unit.Release.Own {
		return false
	}
	r := root.Unit.Release
	return (r.Upgrade || r.Reinstalled != "") && r.CRDs() != "CreateReplace"
}

// definitionIn returns the definition in crds/ of a release with the name of another definition; nil if there is none.
func definitionIn(r *Rendered, o *admission.Object) *admission.Object {
	i := slices.IndexFunc(r.Objects, func(was *admission.Object) bool {
		return RoleOf(was) == render.RoleDefinition && namesakeOf(was) == namesakeOf(o)
	})
	if i < 0 {
		return nil
	}
	return r.Objects[i]
}

// definitionAmong returns the given object with the name of a definition, with the place of the definition; nil if there is none.
func definitionAmong(given []*admission.Object, o *admission.Object) *admission.Object {
	i := slices.IndexFunc(given, func(g *admission.Object) bool { return namesakeOf(g) == namesakeOf(o) })
	if i < 0 {
		return nil
	}
	there := admission.NewObject(given[i].Content())
	there.Tag, there.Unknown = o.Tag, given[i].Unknown
	return there
}
