package deploy

import (
	"errors"
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/tree"
)

// isOtherBranch reports whether a branch of this repository has other files than a cluster's:
// it is not the one that the entry point follows or, when that is not known, none that is a
// repository's first.
func (c *cluster) isOtherBranch(branch string) bool {
	if c.branch != "" {
		return branch != c.branch
	}
	return branch != "main" && branch != "master"
}

// mounted returns the directory in the tree that has the files of an artifact; absent says why
// there is none, after what is said of it.
func (e *expander) mounted(said string, a *render.Artifact) (dir, absent string) {
	dir, ok, err := e.renderer.Tree().Mount(a.Asked())
	missing := new(artifact.MissingError)
	switch {
	case !ok:
		return "", said + ", which is not fetched: preadmit fetch gets it"
	case errors.As(err, &missing):
		return "", fmt.Sprintf("%s, which is not there: %s; %s", said, missing.Why, missing.Hint)
	case err != nil:
		return "", fmt.Sprintf("%s, which cannot be used: %v", said, err)
	}
	return dir, ""
}

// heldBy returns what the source of a unit holds, in its place.
func (e *expander) heldBy(u *render.Unit) (*tree.Tree, error) {
	if e.views == nil {
		e.views = flux.NewViews(e.renderer.Tree())
	}
	held, _, err := e.views.Of(u)
	return held, err
}

// resolveElsewhere makes a unit of an artifact, if that is there; why says what it is made of.
func (e *expander) resolveElsewhere(n *node, checkout render.Checkout, why string, a *render.Artifact) error {
	u := n.root.Unit
	if _, absent := e.mounted(why, a); absent != "" {
		n.without(absent)
	} else if u.Checkout = checkout; u.Parent != (render.RootID{}) {
		n.root.Dir = u.Parent.Dir
	}
	u.Artifact = a
	if a.Locate = n.later("spec.sourceRef"); u.Problem != nil {
		a.Locate = u.Problem.Locate
	}
	return nil
}
