package target

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// KnowsRights reports whether a target of a configuration has all objects that grant rights: then
// they decide each request. whole are the kinds of which the objects beside the trees are all.
func KnowsRights(c *change.Change, from config.Config, whole []schema.GroupKind) (bool, error) {
	b := builder{c, from, Given{}, whole}
	for _, t := range slices.Concat(from.Targets, []config.Target{{}}) {
		complete, err := b.complete(t)
		if err != nil {
			return false, err
		}
		if kinds.CompleteOf(complete...).HasRBAC() {
			return true, nil
		}
	}
	return false, nil
}
