package target

import (
	"slices"

	"github.com/preadmit/preadmit/scanner/change"
	apiserver "k8s.io/apiserver/pkg/admission"
)

// Requests returns those of a root's pairs for which its deployer makes requests.
func Requests(c *change.Change, base, head *change.Rendered, pairs []Pair) []Pair {
	return slices.DeleteFunc(pairs, func(p Pair) bool {
		if p.Operation() == apiserver.Delete {
			return !c.Removes(base.ID, p.Base)
		}
		update := p.Operation() == apiserver.Update
		return update && change.OnlyCreates(head.Root, p.Head) || !change.Applies(head.Root, p.Head, update)
	})
}

// Resume marks the pairs of a unit that was suspended at base as affected by the change: the base's
// objects were not applied, as far as is known.
func Resume(base, head *change.Rendered, pairs []Pair) []Pair {
	if base == nil || head == nil || !change.Suspended(base.Root) || change.Suspended(head.Root) {
		return pairs
	}
	for i := range pairs {
		pairs[i].Resumed, pairs[i].Same = true, false
	}
	return pairs
}
