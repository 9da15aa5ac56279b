package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/deploy/releases"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/tree"
)

// Chart is a chart of the repository that is judged with values.
type Chart struct {
	// Dir is its directory.
	Dir string
	// Release is the name of the release, and Namespace where it is: without them that of the chart, as
	// far as a release can have it, and default.
	Release, Namespace string
	// Values are files of values, the later ones over the earlier ones, and Set values over those.
	Values []string
	Set    map[string]any
}

// ChartKind is the kind of the objects that stand for charts of the repository in identities. There are
// no such objects in a cluster.
const ChartKind = "Chart"

// Charts returns the charts of a tree with their values, whatever deploys them.
func Charts(ctx context.Context, r *render.Renderer, found *render.Discovery, opts Options) []render.Root {
	return (&expander{ctx: ctx, renderer: r, opts: opts}).charts(found)
}

// charts finds the charts of the tree: those that are configured, and others that nothing uses, each
// with its own values and with each file of values in ci/; libraries too, of which helm/engine makes no objects.
func (e *expander) charts(found *render.Discovery) []render.Root {
	configured := map[string]bool{}
	var charts []render.Root
	for _, c := range e.opts.Charts {
		c.Dir = path.Clean(c.Dir)
		configured[c.Dir] = true
		charts = append(charts, e.chart(c, true).root)
	}
	used := e.usedCharts(found, configured)
	for _, gap := range found.Gaps {
		if gap.Kind != render.GapChart || configured[gap.Path] || used[gap.Path] {
			continue
		}
		charts = append(charts, e.chart(Chart{Dir: gap.Path}, false).root)
		for _, name := range chart.ValuesOfCI(e.renderer.Tree(), gap.Path) {
			charts = append(charts, e.chart(Chart{Dir: gap.Path, Values: []string{name}}, false).root)
		}
	}
	slices.SortFunc(charts, func(a, b render.Root) int { return a.Compare(b.RootID) })
	return charts
}

// usedCharts are the directories that units have as charts, whether or not these can be rendered, and those that
// charts of the tree name as dependencies: what values they are rendered with is for their users to say.
func (e *expander) usedCharts(found *render.Discovery, configured map[string]bool) map[string]bool {
	used := map[string]bool{}
	maps.Copy(used, e.setDirs)
	for _, n := range e.nodes {
		u := n.root.Unit
		if r := u.Release; r != nil && r.Dir == n.root.Dir && (u.Artifact == nil || u.Problem != nil) { // the artifact is a dependency that is not there
			used[n.root.Dir] = true
		}
		if n.app != nil {
			for _, dir := range e.selfDirs(n.app) {
				used[dir] = true
			}
		}
	}
	users := slices.Concat(slices.Collect(maps.Keys(used)), slices.Collect(maps.Keys(configured)))
	for _, gap := range found.Gaps {
		if gap.Kind == render.GapChart {
			users = append(users, gap.Path)
		}
	}
	for _, user := range users {
		for _, dir := range chart.Beside(e.renderer.Tree(), user) {
			used[dir] = true
		}
	}
	return used
}

// chart makes the unit of a chart.
func (e *expander) chart(c Chart, configured bool) *node {
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
	if c.Namespace == "" {
		c.Namespace = defaultNamespace
	}
	ref := render.ObjectRef{Kind: ChartKind, Namespace: c.Namespace, Name: name}
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

// failChart makes the unit of a chart one that is not rendered.
func (n *node) failChart(file, message string) {
	n.root.Unit.Problem = &render.Problem{Kind: render.ProblemFailed, Position: tree.Position{Path: file}, Message: message}
}
