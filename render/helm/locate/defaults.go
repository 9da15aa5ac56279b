package locate

import (
	"go.yaml.in/yaml/v3"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/tree"
)

const valuesFile = "values.yaml"

// defaults returns the values of the chart, with those of its dependencies below their names.
func (t Traced) defaults() map[string]any {
	return values.Overlay(belowOf(t.Chart), t.Release.Chart.Values)
}

// belowOf returns the values of the dependencies of a chart, each below its name.
func belowOf(c *helmchart.Chart) map[string]any {
	all := map[string]any{}
	for _, dependency := range c.Dependencies() {
		all[dependency.Name()] = values.Overlay(belowOf(dependency), dependency.Values)
	}
	return all
}

// defaultOf returns where a value of the chart or of a dependency is written: the file, from the name of the
// chart, and the line; 0 if it is not found. The values of a chart take precedence over those of its
// dependencies.
func (t *Tracer) defaultOf(l *Leaf) (file string, line, column int) {
	of := l.Path
	for c := t.Chart; c != nil; {
		file = c.ChartFullPath() + "/" + valuesFile
		if line, column = lineIn(t.parsed(file), of, l.above); line > 0 {
			return file, line, column
		}
		if c, of = dependencyOf(c, of); len(of) == 0 {
			break
		}
	}
	return "", 0, 0
}

// parsed returns a YAML file of the chart or of a dependency; nil if there is none. It is parsed once.
func (t *Tracer) parsed(file string) *yaml.Node {
	known, ok := t.nodes[file]
	if !ok {
		if data, has := chart.Raw(t.Chart, file); has {
			known = tree.ParseFile(data)
		}
		t.nodes[file] = known
	}
	return known
}

// dependencyOf returns the dependency of a chart whose values a path leads into, and the path in these; nil if
// there is none.
func dependencyOf(c *helmchart.Chart, of []any) (*helmchart.Chart, []any) {
	for _, dependency := range c.Dependencies() {
		if of[0] == dependency.Name() {
			return dependency, of[1:]
		}
	}
	return nil, nil
}
