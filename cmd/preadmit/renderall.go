package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/report/format/objects"
)

// printAll writes all units of deployment of a tree.
func (f *renderFlags) printAll(ctx context.Context, p cli.Process, renderer *render.Renderer) error {
	found, err := renderer.Discover(ctx)
	if err != nil {
		return err
	}
	graph, err := deploy.Expand(ctx, renderer, found, deploy.Options{Entries: f.entries, Everything: true, Render: rendering(renderer)})
	if entry := new(deploy.EntryError); errors.As(err, &entry) {
		return cli.Usagef("--entry %s: there is no such directory", entry.Dir)
	}
	if err != nil {
		return err
	}
	writeRemarks(p.Stderr, graph.Diagnostics)
	var units []objects.Unit
	for _, root := range graph.Units {
		result := graph.Results[root.RootID]
		if result == nil {
			result = renderer.Render(ctx, root)
		}
		units = append(units, objects.NewUnit(root, result, objects.Options{ShowSecrets: f.showSecrets}))
	}
	return objects.WriteUnits(p.Stdout, units)
}

// rendering returns what renders roots on all cores.
func rendering(renderer *render.Renderer) func(context.Context, []render.Root) ([]*render.Result, error) {
	return func(ctx context.Context, roots []render.Root) ([]*render.Result, error) {
		results := make([]*render.Result, len(roots))
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i, root := range roots {
			group.Go(func() error {
				results[i] = renderer.Render(ctx, root)
				return nil
			})
		}
		_ = group.Wait() // what is wrong is in the results
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("render: %w", err)
		}
		return results, nil
	}
}
