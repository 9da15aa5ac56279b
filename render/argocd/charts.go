package argocd

import (
	"fmt"
	"path"
	"slices"
	"sync"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/tree"
)

// charts caches the charts of a tree.
type charts struct {
	tree *tree.Tree
	mu   sync.Mutex
	all  map[string]func() *loaded
}

// loaded is the result of loading a chart.
type loaded struct {
	chart *release.Chart
	err   error
}

func newCharts(t *tree.Tree) *charts { return &charts{tree: t, all: map[string]func() *loaded{}} }

// of returns the chart of a part.
func (cs *charts) of(h *helmPart) *loaded {
	key := "dir " + h.dir + fmt.Sprint(h.from.Dependencies)
	if h.from.IsChart() {
		key = h.from.Digest
	}
	cs.mu.Lock()
	once, ok := cs.all[key]
	if !ok {
		once = sync.OnceValue(func() *loaded {
			c, err := cs.load(h)
			if err == nil {
				err = chart.Installable(c.Chart)
			}
			if err == nil {
				err = chart.Complete(c.Chart)
				if err != nil && h.from.IsChart() { // Argo CD downloads them in this case
					err = &release.Problem{Refused: true, Message: err.Error()}
				}
			}
			return &loaded{c, err}
		})
		cs.all[key] = once
	}
	cs.mu.Unlock()
	return once()
}

func (cs *charts) load(h *helmPart) (*release.Chart, error) {
	if h.from.IsChart() {
		c, err := chart.FromArtifact(cs.tree, h.from.Artifact.Requested(), h.from.Digest, chart.Limits{})
		if err != nil {
			return nil, err
		}
		return release.NewChart(c), nil
	}
	c, err := chart.FromTree(cs.tree, h.dir, chart.Limits{})
	if err != nil {
		return nil, fmt.Errorf("the chart in %s cannot be read: %w", h.dir, err)
	}
	dirs := chart.Directories{}
	dirs.Add(c, h.dir)
	for _, d := range h.from.Dependencies {
		dependency, err := cs.dependency(h, d)
		if err != nil {
			return nil, err
		}
		c.AddDependency(dependency)
		if d.Digest == "" {
			dirs.Add(dependency, path.Join(h.top, d.Dir))
		}
	}
	made := release.NewChart(c)
	made.Directories = dirs
	return made, nil
}

func (cs *charts) dependency(h *helmPart, d render.Dependency) (*helmchart.Chart, error) {
	if d.Digest != "" {
		return chart.FromArtifact(cs.tree, d.Chart, d.Digest, chart.Limits{})
	}
	c, err := chart.FromTree(cs.tree, path.Join(h.top, d.Dir), chart.Limits{})
	if err != nil {
		return nil, fmt.Errorf("the dependency in %s cannot be read: %w", d.Dir, err)
	}
	return c, nil
}

// texts returns all texts of a chart from which objects may be rendered.
func texts(c *helmchart.Chart) [][]byte {
	var all [][]byte
	for _, f := range c.Raw {
		if path.Base(f.Name) != "README.md" {
			all = append(all, f.Data)
		}
	}
	for _, dependency := range c.Dependencies() {
		all = append(all, texts(dependency)...)
	}
	return all
}

// Declared returns the API groups that the charts of an Application look up. What they define is only known after
// rendering.
func (r *Renderer) Declared(root render.Root) (d render.Declared) {
	var all []render.Declared
	d.Mentions = func(group string) bool {
		return slices.ContainsFunc(all, func(of render.Declared) bool { return of.Mentions(group) })
	}
	u, problem := r.prepare(root)
	if problem != nil || len(root.Unit.Application.APIVersions) > 0 { // configured APIVersions override what the repository has
		return d
	}
	for _, p := range u.parts {
		switch m := p.maker.(type) {
		case *helmPart:
			c := r.charts.of(m)
			given, err := m.values(tree.NewTrace())
			if c.err != nil || err != nil || len(m.options().APIVersions) > 0 {
				continue // rendering reports the error
			}
			all = append(all, c.chart.Groups().Declared(given.texts()...))
		case *kustomizePart:
			all = append(all, m.inner.OfCharts(m.asRoot())...)
		}
	}
	for _, of := range all {
		d.DependsOn = append(d.DependsOn, of.DependsOn...)
	}
	return d
}
