package target

import (
	"slices"

	"github.com/preadmit/preadmit/scanner/change"
	apiserver "k8s.io/apiserver/pkg/admission"
)

// Requests are those of a root's pairs that its deployer makes requests of. It is nil where
// it is not known whether there are any, which is reported elsewhere.
func Requests(c *change.Change, base, head *change.Rendered, pairs []Pair) []Pair {
	return slices.DeleteFunc(pairs, func(p Pair) bool {
		if p.Operation() == apiserver.Delete {
			return !c.Removes(base.ID, p.Base)
		}
		update := p.Operation() == apiserver.Update
		return update && change.OnlyCreates(head.Root, p.Head) || !change.Applies(head.Root, p.Head, update)
	})
}

// Resume makes the pairs of a unit that was suspended before ones that the change concerns:
// what lies in the tree was not applied, as far as it is known.
func Resume(base, head *change.Rendered, pairs []Pair) []Pair {
	if base == nil || head == nil || !change.Suspended(base.Root) || change.Suspended(head.Root) {
		return pairs
	}
	for i := range pairs {
		pairs[i].Resumed, pairs[i].Same = true, false
	}
	return pairs
}
