package release

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/helm/values"
)

// Chart is a chart for many renders, perhaps concurrent ones: its templates, schemas and definitions are
// parsed once.
type Chart struct {
	*helmchart.Chart
	// Directories are the directories of the tree that the chart was read from.
	Directories chart.Directories

	engine  *engine.Engine
	schemas *values.Schemas
	files   *crdFiles
	// Groups returns the API groups that the chart names.
	Groups func() *Groups

	mu sync.Mutex
	// crds are the definitions in crds/, by the labels that were added to them.
	crds map[string]func() ([]*Object, error)
}

// NewChart returns a chart to render. It must not change afterwards.
func NewChart(c *helmchart.Chart) *Chart {
	return &Chart{Chart: c, Directories: chart.Directories{}, engine: engine.New(), schemas: values.NewSchemas(), files: &crdFiles{all: map[*common.File]func() *crdFile{}},
		Groups: sync.OnceValue(func() *Groups { return groupsOf(c) }), crds: map[string]func() ([]*Object, error){}}
}

// With returns a chart that differs only in values and shares the parsed parts.
func (c *Chart) With(other *helmchart.Chart) *Chart {
	return &Chart{Chart: other, Directories: c.Directories, engine: c.engine, schemas: c.schemas, files: c.files, Groups: sync.OnceValue(func() *Groups { return groupsOf(other) }), crds: map[string]func() ([]*Object, error){}}
}

// maxLabelled limits for how many releases the definitions of a chart are kept.
const maxLabelled = 4

// definitions returns the objects in crds/ of the chart and its dependencies, with labels. of is the chart
// without disabled dependencies.
func (c *Chart) definitions(of *helmchart.Chart, labels map[string]string, printed bool) ([]*Object, error) {
	var key strings.Builder
	crds := of.CRDObjects()
	for _, crd := range crds {
		key.WriteString(crd.Filename + "\x00")
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		key.WriteString(name + "\x00" + labels[name] + "\x00")
	}
	if printed {
		key.WriteString("printed")
	}
	c.mu.Lock()
	made, ok := c.crds[key.String()]
	if !ok {
		made = sync.OnceValues(func() ([]*Object, error) { return c.files.definitions(crds, labels, printed) })
		if len(c.crds) < maxLabelled {
			c.crds[key.String()] = made
		}
	}
	c.mu.Unlock()
	all, err := made()
	if err != nil {
		return nil, err
	}
	copies := make([]*Object, len(all))
	for i, o := range all {
		copied := *o
		copies[i] = &copied
	}
	return copies, nil
}
