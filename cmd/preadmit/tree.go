package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/report/format/objects"
)

func newTreeCommand(p cli.Process) *cobra.Command {
	f := newRenderFlags()
	cmd := &cobra.Command{
		Use:   "tree",
		Short: "Show what the repository deploys to each cluster",
		Long: `Show what the repository deploys to each cluster: the entry points, the
Kustomizations, HelmReleases and Applications below them, how many objects each
renders to, and what is not rendered, with the reason.

Without --entry, preadmit finds the entry points: directories that flux bootstrap
made, FluxInstances, and Kustomizations and Applications that nothing in the
repository applies.

Exit code: 0 shown, 2 wrong usage or configuration, 3 the tree cannot be read.`,
		Example: `  # All clusters
  preadmit tree

  # One cluster, as JSON
  preadmit tree --entry clusters/production --format json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTree(cmd.Context(), p, f) },
	}
	f.registerTree(cmd)
	return cmd
}

// runTree runs the command.
func runTree(ctx context.Context, p cli.Process, f *renderFlags) error {
	f.scan.Path = "."
	if err := f.check(); err != nil {
		return err
	}
	tree, _, err := f.open()
	if err != nil {
		return err
	}
	change := &scan.Change{Head: tree, Remotes: f.remotes}
	cfg, _, err := scan.LoadConfig(f.scan, change)
	if err != nil {
		return err
	}
	if err := scan.AsRendered(ctx, p, &cfg); err != nil {
		return err
	}
	if err := f.scan.Mount(ctx, p, change, cfg); err != nil {
		return err
	}
	tree = change.Head
	renderer := sources.NewRenderer(tree.FS, scan.RenderOptions(p, cfg.LoadRestrictor, nil))
	found, err := renderer.Discover(ctx)
	if err != nil {
		return err
	}
	graph, err := f.expand(ctx, renderer, found, cfg, true)
	if err != nil {
		return err
	}
	shown := treeOf(graph, found)
	if f.format == "json" {
		return objects.WriteTreeJSON(p.Stdout, shown)
	}
	return objects.WriteTree(p.Stdout, shown)
}

// treeOf returns the tree to show for a graph.
func treeOf(g *deploy.Graph, found *render.Discovery) objects.Tree {
	t := objects.Tree{Clusters: newUnitTree(g).clusters()}
	for _, root := range found.Roots {
		for _, cluster := range g.Bootstrap[root.RootID] {
			for i := range t.Clusters {
				if t.Clusters[i].Name == cluster {
					t.Clusters[i].ByHand = append(t.Clusters[i].ByHand, root.Dir)
				}
			}
		}
		if g.Unclaimed(root.RootID) {
			t.Unclaimed = append(t.Unclaimed, root.Dir)
		}
	}
	for _, d := range g.Diagnostics {
		t.Remark(d.String() + ": " + d.Message)
	}
	for _, gap := range g.Gaps {
		t.Remark(gap.Place().String() + ": " + gap.Why)
	}
	return t
}

// unitTree has the units of a graph by parent: tops are the entry points by cluster, below
// the other units by their parent.
type unitTree struct {
	g     *deploy.Graph
	names []string // of the clusters, in order
	tops  map[string][]render.Root
	below map[render.RootID][]render.Root
	// empty has the ApplicationSets that generate nothing by parent, and emptyIn those without a
	// parent by cluster.
	empty   map[render.RootID][]objects.TreeUnit
	emptyIn map[string][]objects.TreeUnit
}

func newUnitTree(g *deploy.Graph) *unitTree {
	t := &unitTree{
		g: g, tops: map[string][]render.Root{}, below: map[render.RootID][]render.Root{},
		empty: map[render.RootID][]objects.TreeUnit{}, emptyIn: map[string][]objects.TreeUnit{},
	}
	for _, root := range g.Units {
		if root.Unit.Entry {
			t.name(root.Cluster)
			t.tops[root.Cluster] = append(t.tops[root.Cluster], root)
			continue
		}
		t.below[root.Unit.Parent] = append(t.below[root.Unit.Parent], root)
	}
	for _, set := range g.Sets {
		shown := objects.TreeUnit{ID: set.Object.String()}
		switch {
		case !set.Empty:
		case set.Parent.Object != (render.ObjectRef{}):
			t.empty[set.Parent] = append(t.empty[set.Parent], shown)
		default:
			t.name(set.Cluster)
			t.emptyIn[set.Cluster] = append(t.emptyIn[set.Cluster], shown)
		}
	}
	return t
}

// name adds the name of a cluster if it is new.
func (t *unitTree) name(cluster string) {
	if t.tops[cluster] == nil && t.emptyIn[cluster] == nil {
		t.names = append(t.names, cluster)
	}
}

func (t *unitTree) clusters() []objects.TreeCluster {
	var clusters []objects.TreeCluster
	for _, name := range t.names {
		c := objects.TreeCluster{Name: name}
		for _, root := range t.tops[name] {
			c.Units = append(c.Units, t.unit(root))
		}
		c.Units = append(c.Units, t.emptyIn[name]...)
		clusters = append(clusters, c)
	}
	return clusters
}

// unit returns a unit with the units below it.
func (t *unitTree) unit(root render.Root) objects.TreeUnit {
	u := treeUnit(root, t.g.Results[root.RootID])
	for _, child := range t.below[root.RootID] {
		u.Units = append(u.Units, t.unit(child))
	}
	u.Units = append(u.Units, t.empty[root.RootID]...)
	return u
}

// treeUnit returns the entry of a unit, without the units below it.
func treeUnit(root render.Root, result *render.Result) objects.TreeUnit {
	u := objects.TreeUnit{ID: root.Object.String(), Path: root.Dir, Suspended: root.Unit.Apply.Suspended}
	problem := root.Unit.Problem
	if problem == nil && result != nil {
		problem = result.Problem
	}
	switch {
	case problem != nil:
		u.NotRendered = problem.Place().String() + ": " + problem.Message
	case result != nil:
		if result.Lacks != nil {
			u.Lacks = result.Lacks.String() + ": " + result.Lacks.Why
		}
		u.Objects = len(result.Objects)
		for _, o := range result.Objects {
			if len(o.Unknown) > 0 {
				u.Unknown++
			}
		}
	}
	return u
}
