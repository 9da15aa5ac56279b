package unknown

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/preadmit/preadmit/render"
)

// Merge combines the results of preparing an object with several stand-ins for its unknown fields.
// Values that are not equal in all results, or are at one of these fields, become a Value. related
// are unknown fields of other objects on which the result may depend as well.
func Merge(results []map[string]any, fields, related []render.Unknown) map[string]any {
	m := merger{fields: fields, all: slices.Concat(fields, related)}
	values := make([]any, len(results))
	for i, r := range results {
		if r == nil {
			return nil
		}
		values[i] = r
	}
	merged := m.merge(values, nil)
	for i := range fields {
		merged = missing(merged, fields[i].Path, &fields[i])
	}
	content, _ := merged.(map[string]any)
	return content
}

// missing returns a value with a Value where the path to an unknown field ends: empty stand-ins may
// not be stored at all.
func missing(value any, path []string, f *render.Unknown) any {
	if len(path) == 0 {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		if item, ok := v[path[0]]; ok {
			v[path[0]] = missing(item, path[1:], f)
		} else {
			v[path[0]] = Value{Field: f, Maybe: true}
		}
		return v
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v) {
			return Value{Field: f}
		}
		v[i] = missing(v[i], path[1:], f)
		return v
	case Value:
		return v
	}
	return Value{Field: f}
}

type merger struct {
	fields []render.Unknown
	// all are the fields on which values may depend.
	all []render.Unknown
}

func (m merger) merge(values []any, path []string) any {
	if At(path, m.fields) {
		return Value{Field: m.nearest(path)}
	}
	switch first := values[0].(type) {
	case map[string]any:
		if all[map[string]any](values) {
			return m.mergeMaps(values, path)
		}
	case []any:
		if all[[]any](values) {
			return m.mergeLists(values, path)
		}
	default:
		if !slices.ContainsFunc(values, func(v any) bool { return !reflect.DeepEqual(v, first) }) {
			return first
		}
	}
	return Value{Field: m.nearest(path)}
}

func all[T any](values []any) bool {
	return !slices.ContainsFunc(values, func(v any) bool { _, ok := v.(T); return !ok })
}

func (m merger) mergeMaps(values []any, path []string) any {
	merged := map[string]any{}
	for _, v := range values {
		for key := range v.(map[string]any) {
			if _, done := merged[key]; !done {
				merged[key] = m.mergeKey(values, key, append(path, key))
			}
		}
	}
	return merged
}

func (m merger) mergeKey(values []any, key string, path []string) any {
	found := make([]any, 0, len(values))
	for _, v := range values {
		if value, ok := v.(map[string]any)[key]; ok {
			found = append(found, value)
		}
	}
	if len(found) < len(values) {
		return Value{Field: m.nearest(path), Maybe: true}
	}
	return m.merge(found, path)
}

func (m merger) mergeLists(values []any, path []string) any {
	merged := make([]any, len(values[0].([]any)))
	for _, v := range values {
		if len(v.([]any)) != len(merged) {
			return Value{Field: m.nearest(path)}
		}
	}
	items := make([]any, len(values))
	for i := range merged {
		for k, v := range values {
			items[k] = v.([]any)[i]
		}
		merged[i] = m.merge(slices.Clone(items), append(path, strconv.Itoa(i)))
	}
	return merged
}

// nearest returns the unknown field that shares the longest beginning with a path.
func (m merger) nearest(path []string) *render.Unknown {
	best, most := 0, -1
	for i, f := range m.all {
		n := 0
		for n < len(path) && n < len(f.Path) && path[n] == f.Path[n] {
			n++
		}
		if n > most {
			best, most = i, n
		}
	}
	return &m.all[best]
}

// Fields returns the unknown fields of a result of Merge, sorted by path.
func Fields(content map[string]any) []render.Unknown {
	var found []render.Unknown
	var walk func(value any, path []string)
	walk = func(value any, path []string) {
		switch v := value.(type) {
		case Value:
			found = append(found, render.Unknown{Path: slices.Clone(path), Reason: v.Field.Reason})
		case map[string]any:
			for key, item := range v {
				walk(item, append(path, key))
			}
		case []any:
			for i, item := range v {
				walk(item, append(path, strconv.Itoa(i)))
			}
		}
	}
	walk(content, nil)
	slices.SortFunc(found, func(a, b render.Unknown) int { return slices.Compare(a.Path, b.Path) })
	return found
}

// Converted returns the known part of an object with unknown fields in another version of its kind:
// apiVersion, kind, and the metadata that versions have in common.
func Converted(content map[string]any, fields []render.Unknown) map[string]any {
	if len(fields) == 0 || content == nil {
		return content
	}
	out := map[string]any{}
	for key, item := range content {
		switch key {
		case "apiVersion", "kind":
			out[key] = item
		case "metadata":
			metadata, ok := item.(map[string]any)
			if !ok { // unknown as a whole
				out[key] = item
				continue
			}
			metadata = maps.Clone(metadata)
			metadata["annotations"] = Value{Field: &fields[0], Maybe: true} // old versions keep fields that they do not have there
			out[key] = metadata
		default:
			out[key] = Value{Field: &fields[0], Maybe: true}
		}
	}
	return out
}
