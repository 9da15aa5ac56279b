package engine

import (
	"math"

	yaml "go.yaml.in/yaml/v2"
	"helm.sh/helm/v4/pkg/chart/common"
)

// copyPlain copies a value that is made of mappings, lists and scalars as JSON or YAML decode to, which is what deepCopy of
// sprig makes of it, in less time. ok is false for other values.
func copyPlain(v any) (made any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		return copyMap(v)
	case common.Values:
		made, ok := copyMap(v)
		return common.Values(made), ok
	case []any:
		if v == nil {
			return nil, false
		}
		made := make([]any, len(v), cap(v))
		for i, item := range v {
			if made[i], ok = copyPlain(item); !ok {
				return nil, false
			}
		}
		return made, true
	case string, bool, int, int64, float64:
		return v, true
	}
	return nil, false
}

func copyMap(m map[string]any) (made map[string]any, ok bool) {
	if m == nil {
		return nil, false
	}
	made = make(map[string]any, len(m))
	for key, value := range m {
		if value == nil {
			made[key] = nil
			continue
		}
		if made[key], ok = copyPlain(value); !ok {
			return nil, false
		}
	}
	return made, true
}

// plainYAML is the YAML of a value, as by way of JSON; ok is false for one of which that may be another one: JSON and what is
// read of it have other forms for some numbers and characters.
func plainYAML(v any) (text []byte, ok bool) {
	if !keepsForm(v, 0) {
		return nil, false
	}
	text, err := yaml.Marshal(v)
	return text, err == nil
}

const (
	// maxPlainDepth is how deep a value may be nested, maxPlainKey how long a key may be: YAML reads longer ones in
	// another way.
	maxPlainDepth, maxPlainKey = 100, 200
	// maxPlainFloat is the least number that is written with an exponent.
	maxPlainFloat = 1e6
)

// keepsForm reports whether a value written as JSON and read as YAML is the same value.
func keepsForm(v any, depth int) bool {
	if depth > maxPlainDepth {
		return false
	}
	switch v := v.(type) {
	case nil, bool, int, int64:
		return true
	case string:
		return isPlainText(v)
	case float64:
		return v == math.Trunc(v) && math.Abs(v) < maxPlainFloat && !math.Signbit(v)
	case map[string]any:
		return mapKeepsForm(v, depth)
	case common.Values:
		return mapKeepsForm(v, depth)
	case []any:
		for _, item := range v {
			if !keepsForm(item, depth+1) {
				return false
			}
		}
		return v != nil
	}
	return false
}

func mapKeepsForm(m map[string]any, depth int) bool {
	for key, value := range m {
		if len(key) > maxPlainKey || !isPlainText(key) || !keepsForm(value, depth+1) {
			return false
		}
	}
	return m != nil
}

// isPlainText reports whether a text is made of printable ASCII, tabs and newlines.
func isPlainText(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}
