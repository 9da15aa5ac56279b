package target

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// KnowsRights reports whether all objects that grant rights are known for a target of a
// configuration: then they decide each request. whole are the kinds of which all objects are given
// beside the trees.
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
