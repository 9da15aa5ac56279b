package chart

import (
	"bytes"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Directories are the directories that a chart and its dependencies were read from, whose names may differ
// from the charts' names. The key is the chart's first file, which copies under an alias share.
type Directories map[*common.File]string

// Add adds the directory of a chart, and those of its dependencies in it.
func (ds Directories) Add(c *chart.Chart, dir string) {
	if len(c.Raw) == 0 {
		return
	}
	ds[c.Raw[0]] = dir
	for _, dependency := range c.Dependencies() {
		if name, ok := directoryOf(c, dependency); ok {
			ds.Add(dependency, path.Join(dir, name))
		}
	}
}

// directoryOf returns the directory of a dependency in that of its parent; ok is false for one that was an
// archive.
func directoryOf(c, dependency *chart.Chart) (dir string, ok bool) {
	own := rawOf(dependency, chartFile)
	for _, f := range c.Raw {
		if dir, name := path.Split(f.Name); name == chartFile && path.Dir(path.Clean(dir)) == "charts" && bytes.Equal(f.Data, own) {
			return path.Clean(dir), !strings.HasSuffix(path.Clean(dir), unpacked)
		}
	}
	return "", false
}

const (
	// chartFile is the file that makes a directory a chart.
	chartFile = "Chart.yaml"
	// unpacked is the suffix of directories of unpacked archives.
	unpacked = ".tgz.d"
)

func rawOf(c *chart.Chart, name string) []byte {
	for _, f := range c.Raw {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// Path returns the path in the tree of a file that Helm names by the names of charts, like
// app/charts/db/templates/x.yaml; ok is false for a file of a chart that was not read from a directory. c is
// the chart or a copy of it.
func (ds Directories) Path(c *chart.Chart, name string) (file string, ok bool) {
	of, name := Find(c, name)
	if of == nil || len(of.Raw) == 0 {
		return "", false
	}
	dir, ok := ds[of.Raw[0]]
	return path.Join(dir, name), ok
}

// Find returns the chart that contains a file, c or a chart below it, and the file's name in that chart; nil
// if there is none.
func Find(c *chart.Chart, name string) (of *chart.Chart, rest string) {
	if c == nil {
		return nil, ""
	}
	rest, ok := strings.CutPrefix(name, c.ChartFullPath()+"/")
	if !ok {
		return nil, ""
	}
	for _, dependency := range c.Dependencies() {
		if of, inner := Find(dependency, name); of != nil {
			return of, inner
		}
	}
	return c, rest
}

// Raw returns the content of a file of a chart, or of a chart below it, by Helm's name of the file.
func Raw(c *chart.Chart, name string) ([]byte, bool) {
	of, rest := Find(c, name)
	if of == nil {
		return nil, false
	}
	for _, f := range of.Raw {
		if f.Name == rest {
			return f.Data, true
		}
	}
	return nil, false
}
