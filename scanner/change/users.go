package change

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
)

// ObjectsOfOtherUsers returns the objects of the units that another user applies than before.
func (c *Change) ObjectsOfOtherUsers() []*admission.Object {
	if c.Base == nil {
		return nil
	}
	var objects []*admission.Object
	for _, root := range c.Head.Found.Roots {
		before, ok := c.Base.Root(root.RootID)
		if ok && c.Touched[root.RootID] && userOf(before) != userOf(root) && IsApplied(root) {
			objects = append(objects, c.Head.Roots[root.RootID].All()...)
		}
	}
	return objects
}

// IsApplied reports whether the deployer of a root applies it: not while it is suspended, nor if its AppProject
// forbids the sync.
func IsApplied(root render.Root) bool {
	return !Suspended(root) && (root.Unit == nil || root.Unit.Application == nil || len(root.Unit.Application.Forbidden) == 0)
}

// userOf returns the user that a root's unit names; empty if it names none.
func userOf(root render.Root) string {
	if root.Unit == nil {
		return ""
	}
	return root.Unit.Apply.User
}

// Deployer returns the object that defines the unit of a root; nil if the tree does not have it.
func (s *Side) Deployer(id render.RootID) *admission.Object {
	root, ok := s.Root(id)
	if !ok || root.Unit == nil {
		return nil
	}
	return s.object(root.Unit.Parent, root.Unit.Index)
}
