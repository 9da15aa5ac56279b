package locate

import (
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
)

// with returns the release with another value of a leaf: one of the chart is another one in the chart, since what is
// imported from a dependency does not follow from values of the user.
func (t *Tracer) with(l *Leaf) *release.Release {
	if l.Builtin {
		return t.withBuiltin(l)
	}
	other := *t.Release
	if l.Default {
		c := chart.Copy(t.Release.Chart.Chart)
		if changeDefault(c, l.Path, l.other()) {
			other.Chart = t.Release.Chart.With(c)
			return &other
		}
	}
	other.Values = l.changed(t.Release.Values, t.defaults())
	return &other
}

// changeDefault changes a value of a chart, or of the dependency that has it; false if none has.
func changeDefault(c *helmchart.Chart, path []any, value any) bool {
	if _, ok := At(c.Values, path); ok {
		put(c.Values, path, value)
		return true
	}
	name, ok := path[0].(string)
	if !ok || len(path) == 1 {
		return false
	}
	dependency := readAs(c, declaredAs(c, name))
	return dependency != nil && changeDefault(dependency, path[1:], value)
}

// changed returns values in which a leaf is another one. One that only takes a value of the chart away is left out.
func (l *Leaf) changed(user, defaults map[string]any) map[string]any {
	last, isKey := l.Path[len(l.Path)-1].(string)
	if l.Value != nil || l.Default || !isKey {
		return l.with(user, defaults, l.other())
	}
	made := chart.CopyValues(user)
	if holder, ok := At(made, l.Path[:len(l.Path)-1]); ok {
		delete(holder.(map[string]any), last)
	}
	return made
}

// without returns the release without a leaf of the user; ok is false for other leaves.
func (t *Tracer) without(l *Leaf) (other release.Release, ok bool) {
	if _, isKey := l.Path[len(l.Path)-1].(string); !isKey || l.Default || l.Builtin {
		return other, false
	}
	other = *t.Release
	other.Values = (&Leaf{Path: l.Path}).changed(t.Release.Values, nil)
	return other, true
}
