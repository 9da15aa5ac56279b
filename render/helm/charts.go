package helm

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/tree"
)

// loaded is a chart that was read, or the error.
type loaded struct {
	chart *release.Chart
	err   error
	// words returns the words of its texts.
	words func() tree.WordSet
}

func newLoaded(c *helmchart.Chart, err error) *loaded {
	l := &loaded{err: err}
	l.words = sync.OnceValue(func() tree.WordSet { return tree.WordSet{} })
	if c != nil {
		l.chart = release.NewChart(c)
		l.words = sync.OnceValue(func() tree.WordSet { return tree.WordsOf(texts(c)) })
	}
	return l
}

// charts caches the charts of a tree.
type charts struct {
	mu  sync.Mutex
	all map[string]func() *loaded
}

func (cs *charts) get(key string, load func() *loaded) *loaded {
	cs.mu.Lock()
	once, ok := cs.all[key]
	if !ok {
		once = sync.OnceValue(load)
		cs.all[key] = once
	}
	cs.mu.Unlock()
	return once()
}

// chartOf returns the chart of a root.
func (s *Source) chartOf(root render.Root) *loaded {
	r := root.Unit.Release
	if r.Digest != "" {
		// Trees that share parsed files share charts.
		key := strings.Join(r.ValuesFiles, "\n") + fmt.Sprint(r.IgnoreMissing)
		once, ok := s.tree.Parsed("chart "+key, r.Digest)
		if !ok {
			once = s.tree.KeepParsed("chart "+key, r.Digest, sync.OnceValue(func() *loaded { return s.archive(r) }))
		}
		return once.(func() *loaded)()
	}
	key := "dir " + r.Dir + " " + elsewhere(root.Unit) + fmt.Sprint(r.Dependencies) + strings.Join(r.ValuesFiles, "\n") + fmt.Sprintf("%+v", root.Unit.Checkout)
	return s.charts.get(key, func() *loaded { return s.directory(root) })
}

// elsewhere returns the artifact of a unit; "" for this repository.
func elsewhere(u *render.Unit) string {
	if u.Artifact == nil {
		return ""
	}
	return u.Artifact.Requested().String() + "\n"
}

// archive reads the chart of an archive.
func (s *Source) archive(r *render.Release) *loaded {
	c, err := chart.FromArtifact(s.tree, r.Chart, r.Digest, chart.Limits{})
	if err != nil {
		return newLoaded(nil, err)
	}
	return newLoaded(c, withValues(c, r, func(name string) ([]byte, error) { return inChart(c, name) }))
}

// directory reads the chart of a directory.
func (s *Source) directory(root render.Root) *loaded {
	view := s.tree
	if !root.Unit.Release.Own { // a chart without a deployer is read as Helm reads it
		var err error
		if view, _, err = s.views.Of(root.Unit); err != nil {
			return newLoaded(nil, fmt.Errorf("read .sourceignore files: %w", err))
		}
	}
	dir := root.Unit.Release.Dir
	c, err := chart.FromTree(view, dir, chart.Limits{})
	if err != nil {
		return newLoaded(nil, fmt.Errorf("the chart in %s cannot be read: %w", dir, err))
	}
	dirs := chart.Directories{}
	dirs.Add(c, dir)
	for _, d := range root.Unit.Release.Dependencies {
		dependency, err := s.dependency(view, d)
		if err != nil {
			return newLoaded(nil, err)
		}
		c.AddDependency(dependency)
		if d.Digest == "" {
			dirs.Add(dependency, d.Dir)
		}
	}
	l := newLoaded(c, withValues(c, root.Unit.Release, func(name string) ([]byte, error) {
		to := view.Resolve(path.Join(root.Unit.Checkout.Top, path.Clean("/" + name)[1:]))
		if to.Err != nil {
			return nil, to.Err
		}
		return view.Read(to.Real)
	}))
	if root.Unit.Artifact == nil {
		l.chart.Directories = dirs
	}
	return l
}

// dependency reads a dependency of a chart in a directory.
func (s *Source) dependency(view *tree.Tree, d render.Dependency) (*helmchart.Chart, error) {
	if d.Digest == "" {
		c, err := chart.FromTree(view, d.Dir, chart.Limits{})
		if err != nil {
			return nil, fmt.Errorf("the dependency in %s cannot be read: %w", d.Dir, err)
		}
		return c, nil
	}
	return chart.FromArtifact(s.tree, d.Chart, d.Digest, chart.Limits{})
}

func inChart(c *helmchart.Chart, name string) ([]byte, error) {
	for _, f := range c.Raw {
		if f.Name == path.Clean(name) {
			return f.Data, nil
		}
	}
	return nil, fs.ErrNotExist
}

// withValues sets the values of a chart to those of the files that a HelmRelease names.
func withValues(c *helmchart.Chart, r *render.Release, read func(name string) ([]byte, error)) error {
	if len(r.ValuesFiles) == 0 {
		return nil
	}
	merged := map[string]any{}
	for _, name := range r.ValuesFiles {
		data, err := read(name)
		if err != nil && r.IgnoreMissing {
			continue
		}
		if err == nil {
			var more common.Values
			if more, err = common.ReadValues(data); err == nil {
				merged = values.Overlay(merged, more)
			}
		}
		if err != nil {
			return fmt.Errorf("values file %s: %w", name, err)
		}
	}
	c.Values = merged
	return nil
}

// texts returns all texts of a chart that objects may be made of.
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

// traceOf returns a trace of the files that the chart of a root is read from.
func (s *Source) traceOf(root render.Root) tree.Trace {
	trace := tree.NewTrace()
	u := root.Unit
	if u == nil || u.Release == nil || u.Release.Digest != "" || u.Release.Dir == "" {
		return trace
	}
	if u.Problem != nil && u.Release.Dir == root.Dir { // the artifact is an unavailable dependency
		here := *u
		here.Artifact = nil
		u = &here
	}
	_, top, err := s.views.Of(u)
	if err != nil {
		return trace
	}
	dir := path.Join(top, u.Release.Dir)
	s.tree.TraceBelow(dir, trace)
	for _, name := range u.Release.ValuesFiles {
		s.tree.TraceFile(path.Join(top, u.Checkout.Top, path.Clean("/" + name)[1:]), trace)
	}
	for _, d := range u.Release.Dependencies {
		if d.Dir != "" {
			s.tree.TraceBelow(path.Join(top, d.Dir), trace)
		}
	}
	for _, dir := range above(u.Release.Dir) {
		s.tree.TraceFile(path.Join(top, dir, ".sourceignore"), trace)
	}
	return trace
}

// above returns a directory and its parents.
func above(dir string) []string {
	all := []string{dir}
	for ; dir != "."; dir = path.Dir(dir) {
		all = append(all, path.Dir(dir))
	}
	return all
}
