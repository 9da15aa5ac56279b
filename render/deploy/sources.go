package deploy

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/tree"
)

// isOtherBranch reports whether a branch of this repository is another one than a cluster uses: not the branch that the
// entry point follows or, if that is not known, neither main nor master.
func (c *cluster) isOtherBranch(branch string) bool {
	if c.branch != "" {
		return branch != c.branch
	}
	return branch != "main" && branch != "master"
}

// sourceTree returns the tree of the files that the source of a unit contains, at their paths.
func (e *expander) sourceTree(u *render.Unit) (*tree.Tree, error) {
	if e.views == nil {
		e.views = flux.NewViews(e.renderer.Tree())
	}
	held, _, err := e.views.Of(u)
	return held, err
}

// resolveElsewhere sets the artifact of a unit, if it was fetched; why describes the source.
func (e *expander) resolveElsewhere(n *node, checkout render.Checkout, why string, a *render.Artifact) error {
	u := n.root.Unit
	if _, absent := e.renderer.Tree().Mounted(why, a.Requested()); absent != "" {
		n.failSource(absent)
	} else if u.Checkout = checkout; u.Parent != (render.RootID{}) {
		n.root.Dir = u.Parent.Dir
	}
	u.Artifact = a
	if a.Locate = n.locator("spec.sourceRef"); u.Problem != nil {
		a.Locate = u.Problem.Locate
	}
	return nil
}
