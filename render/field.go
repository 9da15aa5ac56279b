package render

import "strings"

// Field gives the value of a field of an object's content, written as for
// Source.Find.
func Field(content map[string]any, path string) (value any, found bool) {
	value = content
	steps := parsePath(path)
	for len(steps) > 0 {
		used := 0
		if value, used = valueAt(value, steps); used == 0 {
			return nil, false
		}
		steps = steps[used:]
	}
	return value, true
}

// valueAt takes as many steps as oneHop does on nodes.
func valueAt(value any, steps []fieldStep) (next any, used int) {
	switch v := value.(type) {
	case []any:
		if s := steps[0]; s.indexed && s.index < len(v) {
			return v[s.index], 1
		}
	case map[string]any:
		var key []string
		for i, s := range steps {
			key = append(key, s.key)
			if next, ok := v[strings.Join(key, ".")]; ok {
				return next, i + 1
			}
		}
	}
	return nil, 0
}

// AppendKey appends a key of a mapping to a field path that Find and Field
// understand: `metadata.labels` and `app` make `metadata.labels.app`, what dots and
// brackets would take apart is put in brackets.
func AppendKey(path, key string) string {
	switch {
	case strings.Contains(key, `"]`):
		return path + "['" + key + "']"
	case key == "" || strings.Contains(key, "]") || strings.HasPrefix(key, `"`) || strings.HasPrefix(key, "'"):
		return path + `["` + key + `"]`
	case strings.ContainsAny(key, ".["):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// KindAndName are the object's kind and name; for an object whose name the API
// server makes up, what it makes it from.
func (o *Object) KindAndName() (kind, name string) { return kindAndName(o.Content()) }
