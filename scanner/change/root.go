package change

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
)

// Rendered is a root with its objects.
type Rendered struct {
	*render.Result
	// ID is the root's identity in both trees.
	ID      render.RootID
	Objects []*admission.Object
	// OnDeletion are the hooks that are created when what they belong to is deleted.
	OnDeletion []*admission.Object
	// Skipped are the objects that the root renders to and its deployer leaves alone.
	Skipped []*admission.Object
}

// Origin is where an object of a cluster's state was rendered from; it is the Tag
// of an admission.Object.
type Origin struct {
	Side   *Side
	Root   render.Root
	Result *render.Result // of root
	Index  int
}

func OriginOf(o *admission.Object) Origin { return o.Tag.(Origin) }

// RoleOf is what an object is to what applies it.
func RoleOf(o *admission.Object) render.Role {
	if from := renderedAs(o); from != nil {
		return from.Role
	}
	return render.RoleObject
}

// HookOf says when a hook is created and deleted; it is nil for other objects.
func HookOf(o *admission.Object) *render.Hook {
	if from := renderedAs(o); from != nil {
		return from.Hook
	}
	return nil
}

// renderedAs is what an object was rendered as; nil for one that is given otherwise.
func renderedAs(o *admission.Object) *render.Object {
	origin, ok := o.Tag.(Origin)
	if !ok || origin.Result == nil || origin.Index >= len(origin.Result.Objects) {
		return nil
	}
	return origin.Result.Objects[origin.Index]
}

// All are the objects of a root that may not be there.
func (r *Rendered) All() []*admission.Object {
	if r == nil {
		return nil
	}
	return r.Objects
}

func (o Origin) Extra() bool { return o.Side.Extra }
