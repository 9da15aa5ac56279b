package render

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// errAwkward says that the short way cannot be sure to give the same result.
var errAwkward = errors.New("not convertible directly")

// content decodes a rendered object as an API server would decode kustomize's
// output. The short way converts the nodes directly; anything unusual goes the
// long way, through the JSON kustomize writes.
func content(node *kyaml.RNode) (map[string]any, error) {
	var m map[string]any
	if err := node.YNode().Decode(&m); err == nil && m != nil {
		if v, err := fromYAML(m); err == nil {
			return v.(map[string]any), nil
		}
	}
	return contentViaJSON(node)
}

// contentViaJSON takes the way of `kustomize build | kubectl apply`.
func contentViaJSON(node *kyaml.RNode) (map[string]any, error) {
	data, err := node.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	return m, nil
}

// fromYAML gives a value decoded from YAML the types that decoding its JSON
// would give it.
func fromYAML(value any) (any, error) {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if !utf8.ValidString(key) {
				return nil, errAwkward
			}
			converted, err := fromYAML(field)
			if err != nil {
				return nil, err
			}
			v[key] = converted
		}
		return v, nil
	case []any:
		for i, item := range v {
			converted, err := fromYAML(item)
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

// float gives 1.0 as an integer, because its JSON is `1`.
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
