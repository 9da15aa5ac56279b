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
	// OnDeletion are the hooks that are created when the release or Application is deleted.
	OnDeletion []*admission.Object
	// Skipped are the rendered objects that the deployer does not apply.
	Skipped []*admission.Object
	// Unapplied are the definitions in crds/ of the chart of a release that its upgrade does not apply.
	Unapplied []*admission.Object
}

// Origin is where an object of a cluster state was rendered from. It is the Tag of an
// admission.Object.
type Origin struct {
	Side   *Side
	Root   render.Root
	Result *render.Result // of root
	Index  int
}

func OriginOf(o *admission.Object) Origin { return o.Tag.(Origin) }

// RoleOf returns the role of an object for its deployer.
func RoleOf(o *admission.Object) render.Role {
	if from := renderedAs(o); from != nil {
		return from.Role
	}
	return render.RoleObject
}

// HookOf returns when a hook is created and deleted; nil for other objects.
func HookOf(o *admission.Object) *render.Hook {
	if from := renderedAs(o); from != nil {
		return from.Hook
	}
	return nil
}

// renderedAs returns the rendered form of an object; nil for an object that was not rendered.
func renderedAs(o *admission.Object) *render.Object {
	origin, ok := o.Tag.(Origin)
	if !ok || origin.Result == nil || origin.Index >= len(origin.Result.Objects) {
		return nil
	}
	return origin.Result.Objects[origin.Index]
}

// All returns the objects of a root; r may be nil.
func (r *Rendered) All() []*admission.Object {
	if r == nil {
		return nil
	}
	return r.Objects
}

func (o Origin) Extra() bool { return o.Side.Extra }
