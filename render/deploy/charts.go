package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/deploy/objects"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/tree"
)

// Chart is a chart of the repository that is judged with values.
type Chart struct {
	// Dir is its directory.
	Dir string
	// Release is the name of the release, by default that of the chart, made valid for a release. Namespace is its
	// namespace, by default "default".
	Release, Namespace string
	// Values are files of values, each of which overrides those before it. Set are values that override the files.
	Values []string
	Set    map[string]any
}

// ChartKind is the kind of the references that identify charts of the repository. No cluster has such objects.
const ChartKind = "Chart"

// Charts returns the charts of a tree with their values, regardless of what deploys them.
func Charts(ctx context.Context, r *render.Renderer, found *render.Discovery, opts Options) []render.Root {
	return (&expander{ctx: ctx, renderer: r, opts: opts, unused: found.UnusedCharts()}).charts()
}

// charts returns the charts of the tree that are not units: the configured ones, and the unused ones, each with its own
// values and with each file of values in ci/. Library charts are among them; helm/engine renders no objects of those.
func (e *expander) charts() (charts []render.Root) {
	configured := e.configured()
	add := func(c Chart, configured bool) {
		if root := e.chart(c, configured, objects.DefaultNamespace).root; !e.installed[root.Object] {
			charts = append(charts, root)
		}
	}
	for _, c := range e.opts.Charts {
		add(c, true)
	}
	used := e.usedCharts(configured)
	for _, dir := range e.unused {
		if configured[dir] || used[dir] {
			continue
		}
		add(Chart{Dir: dir}, false)
		for _, name := range chart.ValuesOfCI(e.renderer.Tree(), dir) {
			add(Chart{Dir: dir, Values: []string{name}}, false)
		}
	}
	slices.SortFunc(charts, func(a, b render.Root) int { return a.Compare(b.RootID) })
	return charts
}

// configured returns the set of the directories of configured charts.
func (e *expander) configured() map[string]bool {
	dirs := map[string]bool{}
	for _, c := range e.opts.Charts {
		dirs[path.Clean(c.Dir)] = true
	}
	return dirs
}

// chartHolders returns the charts with Applications that nothing installs. People install them, into the namespace of
// Argo CD.
func (e *expander) chartHolders(seen map[render.RootID]bool) (holders []*appHolder, err error) {
	configured, all := e.configured(), slices.Clone(e.opts.Charts)
	used := e.usedCharts(configured)
	for _, dir := range e.unused {
		if !configured[dir] && !used[dir] {
			all = append(all, Chart{Dir: dir})
		}
	}
	for _, c := range all {
		n := e.chart(c, configured[path.Clean(c.Dir)], e.opts.ArgoCD.namespace())
		n.root.Cluster = argocd.InCluster
		if n.root.Unit.Problem != nil || seen[n.root.RootID] || e.reached[n.root.RootID] || !e.mayHold(n.root, argoMentions...) {
			continue
		}
		if err := e.renderNodes([]*node{n}); err != nil {
			return nil, err
		}
		if all := argoIn(e.results[n.root.RootID]); len(all) > 0 {
			holders = append(holders, &appHolder{root: n.root, all: all, chart: n})
		} else {
			seen[n.root.RootID] = true
		}
	}
	return holders, nil
}

// install adds a chart with Applications as an entry point.
func (e *expander) install(n *node, cluster string) error {
	n.cluster, n.root.Cluster, n.resolved, n.settled = e.clusterOf(cluster), cluster, true, true
	n.root.Unit.Cluster, n.root.Unit.Entry = cluster, true
	e.installed[n.root.Object] = true
	e.nodes = append(e.nodes, n)
	if !n.root.Unit.Release.Configured {
		e.graph.Diagnostics = append(e.graph.Diagnostics, render.Diagnostic{
			Severity: render.SeverityNote, Position: render.Position{Path: n.root.Dir},
			Message: "the repository does not define what installs this chart with Applications: an installation with its default values is assumed (set `charts` in the configuration otherwise)",
		})
	}
	if err := e.renderNodes([]*node{n}); err != nil {
		return err
	}
	e.addChildren(n)
	return nil
}

// leaveInstalled removes the charts that Applications turned out to install from those that people were assumed to
// install.
func (e *expander) leaveInstalled() {
	used := e.usedCharts(nil)
	e.nodes = slices.DeleteFunc(e.nodes, func(n *node) bool {
		if !e.installed[n.root.Object] || !used[n.root.Dir] {
			return false
		}
		for _, child := range e.nodes {
			if child.parent == n {
				child.root.Unit.Entry = true
			}
		}
		return true
	})
}

// usedCharts returns the set of directories that are the charts of units, rendered or not, or dependencies of charts of
// the tree: only their users decide the values to render them with.
func (e *expander) usedCharts(configured map[string]bool) map[string]bool {
	used := map[string]bool{}
	maps.Copy(used, e.setDirs)
	for _, n := range e.nodes {
		u := n.root.Unit
		if r := u.Release; r != nil && !r.Own && r.Dir == n.root.Dir && (u.Artifact == nil || u.Problem != nil) { // the artifact is a missing dependency
			used[n.root.Dir] = true
		}
		if n.app != nil {
			for _, dir := range e.selfDirs(n.app) {
				used[dir] = true
			}
		}
	}
	for _, user := range slices.Concat(slices.Collect(maps.Keys(used)), slices.Collect(maps.Keys(configured)), e.unused) {
		for _, dir := range chart.Beside(e.renderer.Tree(), user) {
			used[dir] = true
		}
	}
	return used
}

// chart returns the unit of a chart. into is the namespace of the release if c has none.
func (e *expander) chart(c Chart, configured bool, into string) *node {
	c.Dir = path.Clean(c.Dir)
	name := c.Dir
	var given []string
	for _, file := range c.Values {
		given = append(given, strings.TrimPrefix(path.Clean(file), c.Dir+"/"))
	}
	if c.Release != "" {
		name += ":" + c.Release
	}
	if len(given) > 0 {
		name += ":" + strings.Join(given, ",")
	}
	ref := render.ObjectRef{Kind: ChartKind, Namespace: cmp.Or(c.Namespace, objects.DefaultNamespace), Name: name}
	c.Namespace = cmp.Or(c.Namespace, into)
	n := &node{release: &releases.HelmRelease{}, cluster: &cluster{}, root: render.Root{RootID: render.RootID{Kind: render.KindHelm, Dir: c.Dir, Object: ref}}}
	n.root.Unit = &render.Unit{
		Checkout: render.Checkout{Top: "."}, Apply: render.Apply{Prune: true, DeletionPolicy: "Delete"},
		Release: &render.Release{Dir: c.Dir, Own: true, Configured: configured, Install: "Create", Reapply: "Skip", KubeVersion: e.opts.KubeVersion},
	}
	if n.root.Unit.Release.KubeVersion == "" {
		n.root.Unit.Release.KubeVersion = defaultKubeVersion
	}
	own, err := chart.NameOf(e.renderer.Tree(), c.Dir)
	if err != nil {
		n.failChart(path.Join(c.Dir, "Chart.yaml"), fmt.Sprintf("there is no chart in %s: %v", c.Dir, err))
		return n
	}
	if c.Release == "" {
		c.Release = chart.ReleaseName(own)
	}
	n.root.Unit.Object, err = json.Marshal(map[string]any{
		"kind": ChartKind, "metadata": map[string]any{"name": c.Release, "namespace": c.Namespace}, "spec": map[string]any{"values": c.Set},
	})
	if err != nil {
		n.failChart(c.Dir, err.Error())
		return n
	}
	for _, file := range c.Values {
		data, real, err := e.renderer.Tree().Load(path.Clean(file), tree.NewTrace())
		if err != nil {
			n.failChart(file, "the file of values cannot be read: "+err.Error())
			return n
		}
		n.root.Unit.Release.References = append(n.root.Unit.Release.References, render.Reference{
			Object: render.ObjectRef{Kind: "File", Name: real}, Data: string(data), File: real,
		})
	}
	if e.resolveDependencies(n, e.renderer.Tree(), c.Dir); n.root.Unit.Problem != nil {
		n.root.Unit.Problem.Position, n.root.Unit.Problem.Locate = chart.FieldAt(e.renderer.Tree(), c.Dir, "dependencies"), nil
	}
	return n
}

// failChart marks the unit of a chart as not rendered.
func (n *node) failChart(file, message string) {
	n.root.Unit.Problem = &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: file}, Message: message}
}
