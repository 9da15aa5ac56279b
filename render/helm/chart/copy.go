package chart

import (
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Copy returns a chart whose metadata, values and dependencies may be modified without changing c: rendering
// drops dependencies and imports values.
func Copy(c *chart.Chart) *chart.Chart {
	made := &chart.Chart{
		Raw: c.Raw, Metadata: copyMetadata(c.Metadata), Lock: c.Lock, Templates: c.Templates, Values: CopyValues(c.Values),
		Schema: c.Schema, SchemaModTime: c.SchemaModTime, Files: c.Files, ModTime: c.ModTime,
	}
	for _, dependency := range c.Dependencies() {
		made.AddDependency(Copy(dependency))
	}
	return made
}

func copyMetadata(m *chart.Metadata) *chart.Metadata {
	made := *m
	made.Dependencies = nil
	for _, d := range m.Dependencies {
		if d == nil {
			continue
		}
		dependency := *d
		made.Dependencies = append(made.Dependencies, &dependency)
	}
	return &made
}

// CopyValues returns a copy of values, which have the types of decoded JSON or YAML.
func CopyValues(values map[string]any) map[string]any {
	if values == nil {
		return nil
	}
	made := make(map[string]any, len(values))
	for key, value := range values {
		made[key] = copyValue(value)
	}
	return made
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return CopyValues(v)
	case []any:
		made := make([]any, len(v))
		for i, item := range v {
			made[i] = copyValue(item)
		}
		return made
	}
	return value
}
