package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/deploy/paths"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/objects"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/config"
)

// printAll writes all units of a tree.
func (f *renderFlags) printAll(ctx context.Context, p cli.Process, renderer *render.Renderer, cfg config.Config) error {
	found, err := renderer.Discover(ctx)
	if err != nil {
		return err
	}
	graph, err := f.expand(ctx, renderer, found, cfg, true)
	if err != nil {
		return err
	}
	writeRemarks(p.Stderr, graph.Diagnostics)
	var units []objects.Unit
	for _, root := range slices.Concat(graph.Units, graph.Charts) {
		result := graph.Results[root.RootID]
		if result == nil {
			result = renderer.Render(ctx, root)
		}
		units = append(units, objects.NewUnit(root, result, objects.Options{ShowSecrets: f.showSecrets}))
	}
	return objects.WriteUnits(p.Stdout, units)
}

// expand returns the graph of units of a tree.
func (f *renderFlags) expand(ctx context.Context, renderer *render.Renderer, found *render.Discovery, cfg config.Config, everything bool) (*deploy.Graph, error) {
	entries, named := cfg.Entries, "entries of the configuration"
	if len(f.entries) > 0 {
		entries, named = f.entries, "--entry"
	}
	graph, err := deploy.Expand(ctx, renderer, found, deploy.Options{
		KubeVersion: admission.KubernetesVersion(), Entries: entries, Self: cfg.Self, SourcePaths: cfg.SourcePaths, Strict: cfg.StrictSubstitution, Remotes: f.remotes, ArgoCD: cfg.DeployArgoCD(), Charts: cfg.DeployCharts(), Everything: everything, Render: rendering(renderer),
	})
	if entry := new(paths.EntryError); errors.As(err, &entry) {
		return nil, cli.Usagef("%s: %w", named, entry)
	}
	return graph, err
}

// isUnit reports whether an argument names an object rather than a directory.
func isUnit(arg string) bool {
	parts := strings.SplitN(arg, "/", 3)
	if len(parts) != 3 || parts[0] != deploy.ChartKind && strings.Contains(parts[2], "/") || !unitKinds[parts[0]] || parts[1] == "" || parts[2] == "" {
		return false
	}
	info, err := os.Stat(arg)
	return err != nil || !info.IsDir()
}

// unitKinds are the kinds of objects that define units.
var unitKinds = map[string]bool{"Kustomization": true, "HelmRelease": true, "Application": true, deploy.ChartKind: true}

// find returns the root that the arguments name.
func (f *renderFlags) find(ctx context.Context, renderer *render.Renderer, cfg config.Config, dir string) (render.Root, []render.Diagnostic, error) {
	if f.unit == "" {
		return findRoot(ctx, renderer, dir)
	}
	found, err := renderer.Discover(ctx)
	if err != nil {
		return render.Root{}, nil, err
	}
	graph, err := f.expand(ctx, renderer, found, cfg, false)
	if err != nil {
		return render.Root{}, nil, err
	}
	var same []render.Root
	var names, clusters []string
	for _, root := range slices.Concat(graph.Units, graph.Charts) {
		names = append(names, escape.Line(root.Object.String()))
		if root.Object.String() == f.unit {
			same = append(same, root)
			clusters = append(clusters, escape.Line(root.Cluster))
		}
	}
	switch len(same) {
	case 0:
		return render.Root{}, nil, cli.Usagef("nothing in the repository has %s deployed\nunits: %s", escape.Line(f.unit), listed(names, "none"))
	case 1:
		return same[0], graph.Diagnostics, nil
	}
	return render.Root{}, nil, cli.Usagef("%s is in several clusters: give --entry with one of %s", escape.Line(f.unit), listed(clusters, ""))
}

// rendering returns a function that renders roots on all cores.
func rendering(renderer *render.Renderer) func(context.Context, []render.Root) ([]*render.Result, error) {
	return func(ctx context.Context, roots []render.Root) ([]*render.Result, error) {
		results, err := render.Each(ctx, roots, renderer.Render)
		if err != nil {
			return nil, fmt.Errorf("render: %w", err)
		}
		return results, nil
	}
}
