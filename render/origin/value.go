package origin

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// errAwkward is returned for values whose direct conversion may differ from that through JSON.
var errAwkward = errors.New("not convertible directly")

// FromYAML converts a value decoded from YAML to the types that decoding its JSON would result in.
func FromYAML(value any) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if !utf8.ValidString(key) {
				return nil, errAwkward
			}
			converted, err := FromYAML(field)
			if err != nil {
				return nil, err
			}
			v[key] = converted
		}
		return v, nil
	case []any:
		for i, item := range v {
			converted, err := FromYAML(item)
			if err != nil {
				return nil, err
			}
			v[i] = converted
		}
		return v, nil
	}
	return scalar(value)
}

func scalar(value any) (any, error) {
	switch v := value.(type) {
	case nil, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	case uint64:
		if v > math.MaxInt64 {
			return float64(v), nil
		}
		return int64(v), nil
	case float64:
		return float(v)
	case string:
		if !utf8.ValidString(v) {
			return nil, errAwkward
		}
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	}
	return nil, errAwkward
}

// float returns 1.0 as an integer, because its JSON is `1`.
func float(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errAwkward
	}
	data, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if i, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		return i, nil
	}
	return f, nil
}

// JSONValue returns a node's value as decoded from JSON; nil when it has no JSON form.
func JSONValue(n *yaml.Node) any {
	var v any
	if n.Decode(&v) != nil {
		return nil
	}
	v, err := FromYAML(v)
	if err != nil {
		return nil
	}
	return v
}
