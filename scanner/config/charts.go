package config

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/preadmit/preadmit/render/deploy"
)

// Chart is a chart of the repository with the release and values to judge it with.
type Chart struct {
	// Path is the directory of the chart.
	Path string `json:"path"`
	// Release is the name of the release; empty means the name of the chart. Namespace is the
	// namespace of objects that name none; empty means default.
	Release   string `json:"release,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Values are files of values in the repository; later files override earlier ones. Set has values
	// that override those of files.
	Values []string       `json:"values,omitempty"`
	Set    map[string]any `json:"set,omitempty"`
}

// DeployCharts returns the charts of the repository for finding units.
func (c *Config) DeployCharts() []deploy.Chart {
	var all []deploy.Chart
	for _, chart := range c.Charts {
		all = append(all, deploy.Chart{Dir: chart.Path, Release: chart.Release, Namespace: chart.Namespace, Values: chart.Values, Set: chart.Set})
	}
	return all
}

// charts checks the charts of the repository.
func (c *checker) charts(all []Chart) {
	seen := map[string]int{}
	for i, chart := range all {
		key := fmt.Sprintf("charts[%d]", i)
		if c.Failed(key) {
			continue
		}
		if chart.Path == "" || !fs.ValidPath(path.Clean(chart.Path)) {
			c.Fail(key+".path", "the directory of a chart in the repository, not %q", chart.Path)
			continue
		}
		c.paths(key+".values", chart.Values)
		id := fmt.Sprintf("%q %q %q %q", path.Clean(chart.Path), chart.Release, chart.Namespace, chart.Values)
		if before, ok := seen[id]; ok {
			c.Fail(key, "charts[%d] is the same chart with the same release, namespace and files of values", before)
		}
		seen[id] = i
	}
}
