package locate

import (
	"go.yaml.in/yaml/v3"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/values"
)

const valuesFile = "values.yaml"

// defaults are the values of the chart, and below the names of its dependencies those of theirs.
func (t Traced) defaults() map[string]any {
	return values.Overlay(belowOf(t.Chart), t.Release.Chart.Values)
}

// belowOf are the values of the dependencies of a chart, each below its name.
func belowOf(c *helmchart.Chart) map[string]any {
	all := map[string]any{}
	for _, dependency := range c.Dependencies() {
		all[dependency.Name()] = values.Overlay(belowOf(dependency), dependency.Values)
	}
	return all
}

// defaultOf is where a value of the chart or of a dependency is written: the file, from the name of the chart,
// and the line; 0 when it is not there. The values of a chart count before those of its dependencies.
func (t *Tracer) defaultOf(l *Leaf) (file string, line, column int) {
	of := l.Path
	for c := t.Chart; c != nil; {
		file = c.ChartFullPath() + "/" + valuesFile
		if line, column = lineIn(t.valuesIn(file), of, l.above); line > 0 {
			return file, line, column
		}
		if c, of = dependencyOf(c, of); len(of) == 0 {
			break
		}
	}
	return "", 0, 0
}

// valuesIn is a file of values of the chart, or of a dependency; nil if it is none. It is parsed once.
func (t *Tracer) valuesIn(file string) *yaml.Node {
	known, ok := t.values[file]
	if !ok {
		if data, has := chart.Raw(t.Chart, file); has {
			known = parsed(data)
		}
		t.values[file] = known
	}
	return known
}

// dependencyOf is the dependency of a chart whose values a path leads into, and the path in these; nil if it
// is none.
func dependencyOf(c *helmchart.Chart, of []any) (*helmchart.Chart, []any) {
	for _, dependency := range c.Dependencies() {
		if of[0] == dependency.Name() {
			return dependency, of[1:]
		}
	}
	return nil, nil
}
