// Package sources has the list of all sources of objects. Adding a kind of root is adding
// its source here.
package sources

import (
	"io/fs"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/helm"
	"github.com/preadmit/preadmit/render/kustomize"
	"github.com/preadmit/preadmit/render/plain"
	"github.com/preadmit/preadmit/render/resourceset"
)

// NewRenderer makes a renderer for a tree. The tree must not change.
func NewRenderer(fsys fs.FS, opts render.Options) *render.Renderer {
	return render.NewRenderer(fsys, opts, kustomize.New, plain.New, flux.New, helm.New, resourceset.New, argocd.New)
}
