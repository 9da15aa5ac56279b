package flux

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Views are what sources of Flux hold of a tree.
type Views struct{ views *views }

// NewViews returns those of a tree.
func NewViews(t *tree.Tree) *Views { return &Views{newViews(t)} }

// Of returns what a source holds, in its place.
func (v *Views) Of(c render.Checkout) (*tree.Tree, error) {
	seen, err := v.views.of(c)
	if err != nil {
		return nil, err
	}
	return seen.tree, nil
}
