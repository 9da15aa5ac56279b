package gaps

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// Kinds of gaps in addition to those of package render.
const (
	// Object is an object, or an object that a controller creates from it.
	Object render.GapKind = "object"
	// Policy is a policy or binding, or a root that may have some.
	Policy render.GapKind = "policy"
	// Manifest is a file that a root does not list.
	Manifest render.GapKind = "manifest"
)

// Gap is something that was not judged.
type Gap struct {
	render.Gap
	// Tree is the tree of the position, change.Base or change.Head.
	Tree string
	// Object is the object that was not judged, if the gap is an object; its location is then the
	// gap's. Key is its key.
	Object *admission.Object
	Key    admission.Key
	// Policy is the name of the policy that was not evaluated.
	Policy string
	// Untouched is set if the change does not affect the gap.
	Untouched bool

	// location is where the object is written.
	location report.Location
}

// objectGap returns a gap for an object that was rendered from a root.
func objectGap(kind render.GapKind, o *admission.Object, key admission.Key, why string) Gap {
	gap := render.Gap{Kind: kind, Root: change.OriginOf(o).Root.RootID, Why: why, Identity: why}
	return Gap{Gap: gap, Object: o, Key: key}
}

// what returns the kind for the report.
func (g *Gap) what() string {
	if g.Kind == render.GapRefused || g.Kind == render.GapFailed {
		return "root"
	}
	return string(g.Kind)
}

// indeterminate converts the gap for the report.
func (g *Gap) indeterminate() report.Indeterminate {
	i := report.Indeterminate{What: g.what(), Why: g.Why, Original: g.Original, Policy: g.Policy, Root: g.Root.String(), Untouched: g.Untouched}
	if g.Object != nil {
		i.Object, i.Location = change.ObjectOf(g.Object, g.Key), &g.location
	} else {
		i.Location = new(change.LocationOf(g.Place(), g.Tree))
	}
	return i
}
