package gaps

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
)

// Kinds of gaps that are not in render: what could not be judged.
const (
	// Object is an object, or what a controller creates of it.
	Object render.GapKind = "object"
	// Policy is a policy or binding, or what may hold some.
	Policy render.GapKind = "policy"
	// Manifest is a file that a root does not list.
	Manifest render.GapKind = "manifest"
)

// Gap is something that was not judged.
type Gap struct {
	render.Gap
	// Tree is that of the position, change.Base or change.Head.
	Tree string
	// Object is what was not judged, if it is an object: its lines are the gap's position.
	// Key is its key.
	Object *admission.Object
	Key    admission.Key
	// Policy is the name of the policy that was not evaluated.
	Policy string
	// Untouched is set when the change does not make the gap what it is.
	Untouched bool

	// location is where the object is written.
	location report.Location
}

// objectGap returns the gap of an object that is written in one of the roots.
func objectGap(kind render.GapKind, o *admission.Object, key admission.Key, why string) Gap {
	gap := render.Gap{Kind: kind, Root: change.OriginOf(o).Root.RootID, Why: why, Identity: why}
	return Gap{Gap: gap, Object: o, Key: key}
}

// what returns the kind as a report has it.
func (g *Gap) what() string {
	if g.Kind == render.GapRefused || g.Kind == render.GapFailed {
		return "root"
	}
	return string(g.Kind)
}

// indeterminate returns the gap as a report has it.
func (g *Gap) indeterminate() report.Indeterminate {
	i := report.Indeterminate{What: g.what(), Why: g.Why, Original: g.Original, Policy: g.Policy, Root: g.Root.String(), Untouched: g.Untouched}
	if g.Object != nil {
		i.Object, i.Location = change.ObjectOf(g.Object, g.Key), &g.location
	} else {
		i.Location = new(change.LocationOf(g.Place(), g.Tree))
	}
	return i
}
