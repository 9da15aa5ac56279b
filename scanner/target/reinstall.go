package target

import (
	"slices"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner/change"
)

// Reinstall makes the updates of a release that is removed and installed anew deletions and creations. What Helm
// leaves behind, as the objects ask for it, is updated.
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
