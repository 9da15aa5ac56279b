package engine

import (
	"math"

	yaml "go.yaml.in/yaml/v2"
	"helm.sh/helm/v4/pkg/chart/common"
)

// copyPlain copies a value of mappings, lists and scalars, as decoded from JSON or YAML. The result is that of
// sprig's deepCopy, in less time. ok is false for other values.
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

// plainYAML returns the YAML of a value without a conversion to JSON; ok is false for a value whose YAML may
// differ with that: JSON has other forms for some numbers and characters.
func plainYAML(v any) (text []byte, ok bool) {
	if !keepsForm(v, 0) {
		return nil, false
	}
	text, err := yaml.Marshal(v)
	return text, err == nil
}

const (
	// maxPlainDepth limits the nesting of a value, maxPlainKey the length of a key: YAML encodes longer ones
	// differently.
	maxPlainDepth, maxPlainKey = 100, 200
	// maxPlainFloat is the smallest number that is written with an exponent.
	maxPlainFloat = 1e6
)

// keepsForm reports whether a value stays the same when it is written as JSON and read as YAML.
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

// isPlainText reports whether a text consists of printable ASCII, tabs and newlines.
func isPlainText(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}
