// Package sources has the list of all sources of objects. Adding a kind of root is adding
// its source here.
package sources

import (
	"context"
	"io"
	"io/fs"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/helm"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/render/kustomize"
	"github.com/preadmit/preadmit/render/plain"
	"github.com/preadmit/preadmit/render/resourceset"
)

// NewRenderer makes a renderer for a tree. The tree must not change.
func NewRenderer(fsys fs.FS, opts render.Options) *render.Renderer {
	return render.NewRenderer(fsys, opts, kustomize.New, plain.New, flux.New, helm.New, resourceset.New, argocd.New)
}

// Workers do the jobs of sources in processes of their own.
func Workers() map[string]isolate.Worker {
	return map[string]isolate.Worker{kustomize.WorkKind: kustomize.Work, argocd.WorkKind: argocd.Work}
}

// ChildMain does one job in this process, which should end afterwards.
func ChildMain(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	return isolate.Main(ctx, stdin, stdout, stderr, Workers())
}
