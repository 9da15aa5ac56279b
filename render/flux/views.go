package flux

import (
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Views are what sources of Flux hold of a tree, and of the artifacts that are mounted in it.
type Views struct {
	*views
	// elsewhere are the views of artifacts, by their directories.
	elsewhere sync.Map
}

// NewViews returns those of a tree.
func NewViews(t *tree.Tree) *Views { return &Views{views: newViews(t)} }

// Of returns what the source of a unit holds, in its place. top is the directory in the tree
// that has the place: "." unless the source is another repository.
func (vs *Views) Of(u *render.Unit) (seen *tree.Tree, top string, err error) {
	of, home, err := vs.in(u)
	if err != nil {
		return nil, "", err
	}
	if top = "."; home != nil {
		top = home.top
	}
	view, err := of.of(u.Checkout)
	if err != nil {
		return nil, "", err
	}
	return view.tree, top, nil
}

// in are the views of what a unit is made of: this repository or an artifact. home is where
// that is in the tree.
func (vs *Views) in(u *render.Unit) (of *views, home *mounted, err error) {
	if u.Artifact == nil {
		return vs.views, nil, nil
	}
	top, ok, err := vs.tree.Mount(u.Artifact.Asked())
	if !ok {
		err = tree.ErrNoArtifacts
	}
	if err != nil {
		return nil, nil, err
	}
	home = &mounted{vs.tree, top}
	kept, _ := vs.elsewhere.LoadOrStore(top, newViews(vs.tree.Beside(home)))
	return kept.(*views), home, nil
}
