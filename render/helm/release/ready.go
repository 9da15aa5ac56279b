package release

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
)

// Ready is a release for many renders with other values: the input of the templates is prepared once.
type Ready struct {
	release *Release
	prepare func() (*prepared, error)
	// conditions and imports are declared by the chart and its dependencies: the values that enable
	// dependencies, and whether they import values. aliased is set when a dependency occurs twice.
	conditions       []string
	imports, aliased bool
}

// prepared is the input of a release's templates.
type prepared struct {
	chart *helmchart.Chart
	all   common.Values
}

// with replaces a value in the input of the templates.
type with struct {
	*Ready
	path  []any
	value any
}

// Ready returns the release for many renders. The release must not be modified afterwards.
func (r *Release) Ready() *Ready {
	ready := &Ready{release: r, prepare: sync.OnceValues(func() (*prepared, error) {
		c, all, err := r.Prepare()
		return &prepared{c, all}, err
	})}
	ready.read(r.Chart.Chart)
	return ready
}

// read records the declarations of a chart and its dependencies.
func (r *Ready) read(c *helmchart.Chart) {
	names := map[string]bool{}
	for _, d := range c.Metadata.Dependencies {
		if d == nil {
			continue
		}
		for condition := range strings.SplitSeq(d.Condition, ",") {
			if condition = strings.TrimSpace(condition); condition != "" {
				r.conditions = append(r.conditions, condition)
			}
		}
		r.imports = r.imports || len(d.ImportValues) > 0
		r.aliased = r.aliased || names[d.Name]
		names[d.Name] = true
	}
	for _, dependency := range c.Dependencies() {
		r.read(dependency)
	}
}

// Release returns the unchanged release.
func (r *Ready) Release() *Release {
	same := *r.release
	same.ready = &with{Ready: r}
	return &same
}

// With returns the release with another scalar at a path of its values; now is the present one. ok is false if
// the change may have other effects than on the templates' input at that path. ofChart is set for a value that
// only the chart sets.
func (r *Ready) With(path []any, now, value any, ofChart bool) (changed *Release, ok bool) {
	p, err := r.prepare()
	if err != nil || len(path) == 0 || now == nil || value == nil || r.decidesMore(path) || ofChart && (r.imports || r.aliased) {
		return nil, false
	}
	if at, ok := chart.At(valuesIn(p.all), path); !ok || !reflect.DeepEqual(at, now) {
		return nil, false
	}
	other := *r.release
	other.ready = &with{r, path, value}
	return &other, true
}

// valuesIn returns the values in the templates' input.
func valuesIn(all common.Values) map[string]any { return all["Values"].(common.Values) }

// decidesMore reports whether a value may enable a dependency, or belongs to several charts.
func (r *Ready) decidesMore(path []any) bool {
	var keys []string
	for _, step := range path {
		if key, ok := step.(string); ok {
			keys = append(keys, key)
		}
	}
	if slices.Contains(keys, common.GlobalKey) || slices.Contains(keys, "tags") {
		return true
	}
	dotted := "." + strings.Join(keys, ".")
	return slices.ContainsFunc(r.conditions, func(condition string) bool { return strings.HasSuffix(dotted, "."+condition) })
}

// take returns copies of the prepared chart and input, with the changed value: templates may modify both.
func (w *with) take() (c *helmchart.Chart, all common.Values, err error) {
	p, err := w.prepare()
	if err != nil {
		return nil, nil, err
	}
	all = copies{}.of(p.all).(common.Values)
	if len(w.path) > 0 {
		chart.Put(valuesIn(all), w.path, w.value)
	}
	return chart.Copy(p.chart), all, nil
}

// copies are the copied mappings by address of the original: one mapping at several places, as Helm makes it
// for tables in global values, stays one.
type copies map[uintptr]any

func (c copies) of(v any) any {
	switch v := v.(type) {
	case common.Values:
		if v == nil {
			return v
		}
		return c.once(v, func(into map[string]any) any { return common.Values(into) })
	case map[string]any:
		if v == nil {
			return v
		}
		return c.once(v, func(into map[string]any) any { return into })
	case []any:
		if v == nil {
			return v
		}
		made := make([]any, len(v))
		for i, item := range v {
			made[i] = c.of(item)
		}
		return made
	}
	return v
}

// once copies a mapping unless it was copied before.
func (c copies) once(v map[string]any, typed func(into map[string]any) any) any {
	id := reflect.ValueOf(v).Pointer()
	if known, ok := c[id]; ok {
		return known
	}
	into := make(map[string]any, len(v))
	c[id] = typed(into)
	for key, value := range v {
		into[key] = c.of(value)
	}
	return c[id]
}
