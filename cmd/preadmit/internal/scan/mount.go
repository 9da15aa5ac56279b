package scan

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/artifacts"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/fetch"
	"github.com/preadmit/preadmit/render/artifact/store"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
)

// Mount adds the artifacts that the trees of a change need to the trees, as far as they are
// in the store or, with --fetch, may be fetched.
func (f *Flags) Mount(ctx context.Context, p cli.Process, change *Change, cfg config.Config) error {
	given, err := f.Artifacts.Given()
	if err != nil {
		return err
	}
	c := &artifacts.Change{
		Given: given,
		Base:  change.baseFS(), Head: change.Head.FS, Trusted: change.WorkTree, Allow: slices.Concat(cfg.AllowedURLs(), f.Fetch.Allow.Values), NoLock: f.Fetch.NoLock(),
		Render: RenderOptions(p, cfg.LoadRestrictor, nil), Deploy: change.Deploy(cfg), CRDs: cfg.CRDs, Store: f.Artifacts.Store,
	}
	if f.Fetch.On() && !f.offline {
		c.Locked = f.Fetch.Locked()
		c.Client = func(kept *store.Store) (*fetch.Client, error) { return f.Artifacts.Client(p, kept) }
	}
	base, head, notes, err := c.Mount(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Canceled
	case err != nil:
		return cli.Usagef("%w", err)
	}
	if change.Base != nil {
		change.Base.FS = base
	}
	change.Head.FS = head
	for _, note := range notes {
		change.Remarks = append(change.Remarks, report.Diagnostic{Severity: "note", Message: note})
	}
	return nil
}

// Deploy returns the options for expanding the units of the trees.
func (c *Change) Deploy(cfg config.Config) deploy.Options {
	return deploy.Options{Entries: cfg.Entries, Self: cfg.Self, SourcePaths: cfg.SourcePaths, Strict: cfg.StrictSubstitution, Remotes: c.Remotes, ArgoCD: cfg.DeployArgoCD(), Charts: cfg.DeployCharts()}
}
