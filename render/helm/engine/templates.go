package engine

import (
	"maps"
	"path"
	"slices"
	"strings"

	charts "helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// chartTemplate is a template file and the values that it is executed with.
type chartTemplate struct {
	name, base string
	file       *common.File
	values     map[string]any
}

// templatesOf returns the templates of a chart and its dependencies in the order in which
// Helm parses and executes them: the deepest paths first.
func templatesOf(c *chart.Chart, values common.Values) ([]chartTemplate, error) {
	byName := map[string]chartTemplate{}
	if _, err := collect(c, values.AsMap(), byName); err != nil {
		return nil, err
	}
	sorted := slices.SortedFunc(maps.Keys(byName), func(a, b string) int {
		if depth := strings.Count(b, "/") - strings.Count(a, "/"); depth != 0 {
			return depth
		}
		return strings.Compare(b, a)
	})
	var templates []chartTemplate
	for _, name := range sorted {
		templates = append(templates, byName[name])
	}
	return templates, nil
}

// collect adds the templates of a chart, given the values that its parent's templates see, and returns the
// values that its own templates see.
func collect(c *chart.Chart, parent map[string]any, byName map[string]chartTemplate) (map[string]any, error) {
	accessor, err := charts.NewAccessor(c)
	if err != nil {
		return nil, err
	}
	metadata := accessor.MetadataAsMap()
	metadata["IsRoot"] = accessor.IsRoot()
	subcharts := map[string]any{}
	scope := map[string]any{
		"Chart":        metadata,
		"Files":        newFiles(accessor.Files()),
		"Release":      parent["Release"],
		"Capabilities": parent["Capabilities"],
		"Values":       valuesOf(accessor, parent),
		"Subcharts":    subcharts,
	}
	for _, child := range c.Dependencies() {
		sub, err := collect(child, scope, byName)
		if err != nil {
			return nil, err
		}
		subcharts[child.Name()] = sub
	}
	dir := accessor.ChartFullPath()
	for _, t := range accessor.Templates() {
		if t == nil || accessor.IsLibraryChart() && !strings.HasPrefix(path.Base(t.Name), "_") {
			continue
		}
		name := path.Join(dir, t.Name)
		byName[name] = chartTemplate{name: name, file: t, base: path.Join(dir, "templates"), values: scope}
	}
	return scope, nil
}

// valuesOf returns the values of a chart: for a dependency, those under its name in its parent's values.
func valuesOf(c charts.Accessor, parent map[string]any) any {
	if c.IsRoot() {
		return parent["Values"]
	}
	if values, err := common.Values(parent).Table("Values." + c.Name()); err == nil {
		return values
	}
	return common.Values{}
}
