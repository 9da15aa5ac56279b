package flux

import (
	"sync"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// Views are the views of a tree, and of the artifacts that are mounted in it.
type Views struct {
	*views
	// elsewhere are the views of artifacts, by directory.
	elsewhere sync.Map
}

// NewViews returns the Views of a tree.
func NewViews(t *tree.Tree) *Views { return &Views{views: newViews(t)} }

// Of returns the tree of files that the source of a unit contains. top is its directory in the underlying tree: "."
// unless the source is an artifact.
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

// in returns the views of a unit's source: of this repository or of an artifact. home is the mounted artifact, nil for
// this repository.
func (vs *Views) in(u *render.Unit) (of *views, home *mounted, err error) {
	if u.Artifact == nil {
		return vs.views, nil, nil
	}
	top, ok, err := vs.tree.Mount(u.Artifact.Requested())
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
