package outline

import (
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Reason is one reason and the places where something could not be judged because
// of it.
type Reason struct {
	Why    string
	Places []*Unjudged
}

// Unjudged is what could not be judged at one place.
type Unjudged struct {
	items []*report.Indeterminate
}

// Touched leaves out what the change does not touch, and counts it: in a repository
// with remote bases that is nearly all, at every change.
func Touched(list []report.Indeterminate) (left []report.Indeterminate, untouched int) {
	for _, n := range list {
		if n.Untouched {
			untouched++
			continue
		}
		left = append(left, n)
	}
	return left, untouched
}

// Reasons groups by reason and place, in the order of the report.
func Reasons(list []report.Indeterminate) []*Reason {
	type spot struct{ why, place, object string }
	var order []*Reason
	reasons := map[string]*Reason{}
	places := map[spot]*Unjudged{}
	for i := range list {
		n := &list[i]
		why := n.Why
		if n.Policy != "" && !strings.Contains(why, n.Policy) {
			why = "policy " + n.Policy + ": " + why
		}
		u := reasons[why]
		if u == nil {
			u = &Reason{Why: why}
			reasons[why], order = u, append(order, u)
		}
		at := spot{why: why, object: ObjectName(n.Object)}
		if n.Location != nil {
			at.place = Place(n.Location)
		}
		pl := places[at]
		if pl == nil || at.place == "" {
			pl = &Unjudged{}
			places[at], u.Places = pl, append(u.Places, pl)
		}
		pl.items = append(pl.items, n)
	}
	return order
}

func (u *Reason) Count() int {
	n := 0
	for _, pl := range u.Places {
		n += len(pl.items)
	}
	return n
}

// subject says where something could not be judged, and what it is as far as the
// place does not say.
func (pl *Unjudged) Text(verbose bool) string {
	first := pl.items[0]
	var at, what string
	if first.Location != nil {
		at = Place(first.Location)
	}
	switch {
	case first.Object != nil:
		what = ObjectName(first.Object)
	case first.What == "policy" && first.Policy != "":
		what = "policy " + escape.Text(first.Policy)
	case first.What != "root":
		what = escape.Text(first.What)
	}
	var roots []string
	for _, n := range pl.items {
		if n.Root != "" && !slices.Contains(roots, escape.Text(n.Root)) {
			roots = append(roots, escape.Text(n.Root))
		}
	}
	return Join(": ", at, Join(", ", what, RootList(roots, first.Location, verbose)))
}

// manyRoots is how many roots are named; more are counted.
const manyRoots = 3

// RootList names roots; a single one only if the path does not say it, many only
// if Verbose.
func RootList(roots []string, at *report.Location, verbose bool) string {
	switch {
	case len(roots) == 0 || len(roots) == 1 && at != nil && inDirectory(at.Path, roots[0]):
		return ""
	case len(roots) == 1:
		return "root " + roots[0]
	case len(roots) > manyRoots && !verbose:
		return Count(len(roots), "root")
	}
	return "roots " + strings.Join(roots, ", ")
}

func inDirectory(path, dir string) bool {
	return dir == "." || strings.HasPrefix(escape.Text(path), dir+"/")
}
