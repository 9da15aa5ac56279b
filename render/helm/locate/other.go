package locate

import (
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
)

// variantTries limits how many other values of a leaf are tried if the chart does not accept the first.
const variantTries = 3

// variants returns the release with other values of a leaf, in the order to try them. A value of the chart is
// changed in the chart, since values imported from a dependency do not depend on the user's values.
func (t *Tracer) variants(l *Leaf) (all []func() *release.Release) {
	if l.Builtin {
		return append(all, func() *release.Release { return t.withBuiltin(l) })
	}
	if filled, ok := filled(l.Value); ok {
		return append(all, func() *release.Release { return t.rebuilt(l, filled) })
	}
	if l.Value == nil && l.isKey() && !l.Default { // it only removes a value of the chart
		return append(all, func() *release.Release { return t.without(l) })
	}
	for i, value := range l.others() {
		if i == 1 && l.isKey() && !l.Default {
			all = append(all, func() *release.Release { return t.without(l) })
		}
		all = append(all, func() *release.Release { return t.with(l, value) })
	}
	if len(all) == 1 && l.isKey() && !l.Default {
		all = append(all, func() *release.Release { return t.without(l) })
	}
	return all[:min(len(all), variantTries)]
}

// with returns the release with another value of a leaf.
func (t *Tracer) with(l *Leaf, value any) *release.Release {
	if other, ok := t.ready.With(l.Path, l.Value, value, l.Default); ok {
		return other
	}
	return t.rebuilt(l, value)
}

// rebuilt returns the release with another value of a leaf, changed in the chart or in the user's values.
func (t *Tracer) rebuilt(l *Leaf, value any) *release.Release {
	other := *t.Release
	if l.Default {
		c := chart.Copy(t.Release.Chart.Chart)
		if changeDefault(c, l.Path, value) {
			other.Chart = t.Release.Chart.With(c)
			return &other
		}
	}
	other.Values = l.with(t.Release.Values, t.defaults(), value)
	return &other
}

// without returns the release without a key of the user's values.
func (t *Tracer) without(l *Leaf) *release.Release {
	other := *t.Release
	other.Values = chart.CopyValues(t.Release.Values)
	if holder, ok := chart.At(other.Values, l.Path[:len(l.Path)-1]); ok {
		delete(holder.(map[string]any), l.Path[len(l.Path)-1].(string))
	}
	return &other
}

// changeDefault changes a value of a chart, or of the dependency that has it; false if none has.
func changeDefault(c *helmchart.Chart, path []any, value any) bool {
	if _, ok := chart.At(c.Values, path); ok {
		chart.Put(c.Values, path, value)
		return true
	}
	name, ok := path[0].(string)
	if !ok || len(path) == 1 {
		return false
	}
	dependency := readAs(c, declaredAs(c, name))
	return dependency != nil && changeDefault(dependency, path[1:], value)
}
