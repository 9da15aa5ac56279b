package scanner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// objectID identifies an object of a root.
type objectID struct {
	root   string
	object report.Object
}

func idOf(root string, o *report.Object) objectID { return objectID{root, *o} }

// mostReasons is the maximum number of reasons in the report why verdicts are not exact.
const mostReasons = 20

// coverage returns for how many objects the verdict is exact; nil if there are no objects.
func coverage(objects map[objectID]bool, gaps []report.Indeterminate) *report.Coverage {
	if len(objects) == 0 {
		return nil
	}
	unknown, reasons := map[objectID]bool{}, map[string]map[objectID]bool{}
	for i := range gaps {
		gap := &gaps[i]
		if gap.Object == nil || !objects[idOf(gap.Root, gap.Object)] {
			continue
		}
		id, reason := idOf(gap.Root, gap.Object), reasonOf(gap.Why)
		if reasons[reason] == nil {
			reasons[reason] = map[objectID]bool{}
		}
		unknown[id], reasons[reason][id] = true, true
	}
	c := &report.Coverage{Objects: len(objects), Exact: len(objects) - len(unknown)}
	for reason, of := range reasons {
		c.Unknown = append(c.Unknown, report.UnknownCount{Reason: reason, Objects: len(of)})
	}
	slices.SortFunc(c.Unknown, func(a, b report.UnknownCount) int {
		return cmp.Or(cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Reason, b.Reason))
	})
	c.Unknown = c.Unknown[:min(len(c.Unknown), mostReasons)]
	return c
}

// reasonOf returns the part of a reason that is the same for many objects: without advice and
// details.
func reasonOf(why string) string {
	return why[:min(len(why), cut(why, "; "), cut(why, ": "))]
}

func cut(text, at string) int {
	if i := strings.Index(text, at); i >= 0 {
		return i
	}
	return len(text)
}
