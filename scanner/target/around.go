package target

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/config"
)

// Around returns a function that returns the surroundings of a release: the settings of the one target that
// it belongs to. whole are the kinds of which all objects are given beside the trees.
func Around(c *change.Change, from config.Config, whole []schema.GroupKind) func(id render.RootID) (change.Surroundings, bool, error) {
	b := builder{c, from, Given{}, whole}
	targets := from.Targets
	if len(targets) == 0 {
		targets = []config.Target{{Roots: []string{"**"}}}
	}
	complete := map[int][]schema.GroupKind{}
	return func(id render.RootID) (s change.Surroundings, ok bool, err error) {
		for i, t := range targets {
			if !config.Chooses(t.Roots, change.NamesOf(id)...) {
				continue
			}
			if ok {
				return s, false, nil
			}
			if _, known := complete[i]; !known {
				if complete[i], err = b.complete(t); err != nil {
					return s, false, err
				}
			}
			ok = true
			s = change.Surroundings{
				Complete: complete[i], Paths: slices.Concat(t.Policies, t.Context, from.Policies, from.Context),
				Has: func(id render.RootID) bool { return config.Chooses(t.Roots, change.NamesOf(id)...) },
			}
		}
		return s, ok, nil
	}
}
