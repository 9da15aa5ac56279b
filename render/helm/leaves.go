package helm

import (
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/chart"
	"github.com/preadmit/preadmit/render/helm/release"
)

// layer is where a value of a release is set.
type layer int

const (
	// ofRelease: in spec.values.
	ofRelease layer = iota
	// ofReference: in a ConfigMap or Secret of valuesFrom.
	ofReference
	// ofChart: in the values.yaml of the chart.
	ofChart
)

// leaf is a scalar among the values of a release.
type leaf struct {
	path  []any
	value any
	layer layer
	// reference is the one that sets it, of ofReference.
	reference int
}

// text is the value as it appears in an object.
func (l *leaf) text() string { return textOf(l.value) }

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		if v == float64(int64(v)) {
			return fmt.Sprint(int64(v))
		}
	}
	return fmt.Sprint(v)
}

// key is the last key of the path.
func (l *leaf) key() string {
	for _, step := range slices.Backward(l.path) {
		if key, ok := step.(string); ok {
			return key
		}
	}
	return ""
}

// maxLeaves bounds how many values are looked at.
const maxLeaves = 20_000

// leaves are all scalars among the values, those of the release first.
func (in *installed) leaves(h *release.HelmRelease, user map[string]any) []*leaf {
	var all []*leaf
	parsed := in.parsedReferences()
	walk(user, nil, func(path []any, value any) {
		l := &leaf{path: slices.Clone(path), value: value, layer: ofReference, reference: -1}
		if _, ok := at(map[string]any(h.Spec.Values), path); ok {
			l.layer = ofRelease
		}
		for i, r := range in.root.Unit.Release.References {
			if sets(r, parsed[i], path, value) {
				l.reference = i
				if r.TargetPath != "" {
					l.layer = ofReference
				}
			}
		}
		all = append(all, l)
	})
	walk(in.chart.chart.Values, nil, func(path []any, value any) {
		if _, ok := at(user, path); !ok {
			all = append(all, &leaf{path: slices.Clone(path), value: value, layer: ofChart})
		}
	})
	return all[:min(len(all), maxLeaves)]
}

// parsedReferences are the values that references hold; nil of those that set one.
func (in *installed) parsedReferences() []map[string]any {
	var all []map[string]any
	for _, r := range in.root.Unit.Release.References {
		var parsed common.Values
		if r.TargetPath == "" {
			parsed, _ = common.ReadValues([]byte(r.Data)) // what is none sets nothing
		}
		all = append(all, parsed)
	}
	return all
}

// sets reports whether a reference sets a value.
func sets(r render.Reference, parsed map[string]any, path []any, value any) bool {
	if r.TargetPath != "" {
		return dottedPath(path) == strings.NewReplacer("[", ".", "]", "").Replace(r.TargetPath)
	}
	found, ok := at(parsed, path)
	return ok && textOf(found) == textOf(value)
}

func dottedPath(path []any) string {
	var parts []string
	for _, step := range path {
		parts = append(parts, fmt.Sprint(step))
	}
	return strings.Join(parts, ".")
}

// walk visits scalars in the order of their keys.
func walk(v any, path []any, visit func(path []any, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(keysOf(v)) {
			walk(v[key], append(path, key), visit)
		}
	case common.Values:
		walk(map[string]any(v), path, visit)
	case []any:
		for i, item := range v {
			walk(item, append(path, i), visit)
		}
	default:
		visit(path, v)
	}
}

func keysOf(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// at is what a path leads to.
func at(v any, path []any) (any, bool) {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = m[step]; !ok {
				return nil, false
			}
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				return nil, false
			}
			v = list[step]
		}
	}
	return v, true
}

// with returns values in which a leaf has another value.
func (l *leaf) with(user, defaults map[string]any, value any) map[string]any {
	made := chart.CopyValues(user)
	if made == nil {
		made = map[string]any{}
	}
	if l.layer == ofChart { // lists are replaced as a whole
		for i, step := range l.path {
			if _, isIndex := step.(int); isIndex {
				if list, ok := at(defaults, l.path[:i]); ok {
					copied := chart.CopyValues(map[string]any{"list": list})["list"]
					put(made, l.path[:i], copied)
				}
				break
			}
		}
	}
	put(made, l.path, value)
	return made
}

func put(v any, path []any, value any) {
	for i, step := range path {
		last := i == len(path)-1
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return
			}
			if last {
				m[step] = value
				return
			}
			if m[step] == nil {
				m[step] = map[string]any{}
			}
			v = m[step]
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				return
			}
			if last {
				list[step] = value
				return
			}
			v = list[step]
		}
	}
}

// other is another value of the same form.
func (l *leaf) other() any {
	switch v := l.value.(type) {
	case bool:
		return !v
	case float64:
		return v + 1
	case int64:
		return v + 1
	case int:
		return v + 1
	case string:
		if v != "" && strings.Trim(v, "0123456789") == "" {
			return v[:len(v)-1] + string('0'+(v[len(v)-1]-'0'+1)%10)
		}
		return v + "x"
	}
	return "x"
}
