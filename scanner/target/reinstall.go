package target

import (
	"slices"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/change"
)

// Reinstall turns the updates of a release that is removed and installed again into deletions and creations.
// Objects that Helm keeps (by their annotations) are updated.
func Reinstall(c *change.Change, base, head *change.Rendered, pairs []Pair) []Pair {
	if base == nil || head == nil || !change.Reinstalled(head.Root) {
		return pairs
	}
	var deleted, others []Pair
	for _, p := range pairs {
		removed := p.Operation() == apiserver.Update && change.OriginOf(p.Base).Root.Object == base.Root.Object && c.Removes(base.ID, p.Base)
		if removed {
			deleted = append(deleted, Pair{Key: p.Key, Base: p.Base})
			p.Generated, p.Same = true, false
		}
		others = append(others, p)
	}
	return slices.Concat(deleted, others)
}
