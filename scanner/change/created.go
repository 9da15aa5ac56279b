package change

import (
	"slices"

	"github.com/preadmit/preadmit/scanner/admission"
)

// KeepCreated replaces objects of the head that their deployer only creates by those of the base, where it has them: the
// cluster keeps these, also as params, Namespaces and policies.
func (c *Change) KeepCreated() {
	if c.Base == nil {
		return
	}
	for _, root := range c.Head.Found.Roots {
		base, head := c.Base.Roots[root.RootID], c.Head.Roots[root.RootID]
		if head == nil || head.Problem != nil || base == nil || base == head || base.Problem != nil || changedCluster(base.Root.Unit, root.Unit) {
			continue
		}
		var was map[namesakeIn]*admission.Object
		kept := *head
		for i, o := range head.Objects {
			if !OnlyCreates(root, o) {
				continue
			}
			if was == nil {
				was = byName(base.Objects)
				kept.Objects = slices.Clone(head.Objects)
			}
			if before := was[namesakeOf(o)]; before != nil && before.GroupVersionKind() == o.GroupVersionKind() && !Equal(before, o) {
				kept.Objects[i] = before
				c.Head.Roots[root.RootID] = &kept
			}
		}
	}
}

// byName returns objects by their names.
func byName(objects []*admission.Object) map[namesakeIn]*admission.Object {
	all := map[namesakeIn]*admission.Object{}
	for _, o := range objects {
		all[namesakeOf(o)] = o
	}
	return all
}
