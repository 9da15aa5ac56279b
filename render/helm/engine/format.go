package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/preadmit/preadmit/render/tree"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// formats returns Helm's functions for reading and writing formats. Those without `must` return errors in
// their result, if at all.
func formats(d *decoded) template.FuncMap {
	return template.FuncMap{
		"toToml": toTOML, "mustToToml": mustToTOML, "fromToml": fromTOML,
		"toYaml": toYAML, "mustToYaml": mustToYAML, "toYamlPretty": toYAMLPretty, "fromYaml": d.fromYAML, "fromYamlArray": fromYAMLArray,
		"toJson": toJSON, "mustToJson": mustToJSON, "fromJson": fromJSON, "fromJsonArray": fromJSONArray,
	}
}

func toYAML(v any) string {
	text, err := mustToYAML(v)
	if err != nil {
		return ""
	}
	return text
}

func mustToYAML(v any) (string, error) {
	if data, ok := plainYAML(v); ok {
		return strings.TrimSuffix(string(data), "\n"), nil
	}
	data, err := yaml.Marshal(v)
	return strings.TrimSuffix(string(data), "\n"), err
}

func toYAMLPretty(v any) string {
	var data bytes.Buffer
	encoder := goyaml.NewEncoder(&data)
	encoder.SetIndent(2)
	if encoder.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(data.String(), "\n")
}

func (d *decoded) fromYAML(text string) (map[string]any, error) {
	if err := expandable(text); err != nil {
		return nil, err
	}
	return d.get(text), nil
}

func fromYAMLArray(text string) ([]any, error) {
	a := []any{}
	if err := expandable(text); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal([]byte(text), &a); err != nil {
		a = []any{err.Error()}
	}
	return a, nil
}

// expandable refuses YAML that is too large with its aliases expanded.
func expandable(text string) error {
	if !strings.Contains(text, "*") || !strings.Contains(text, "&") {
		return nil
	}
	limits := tree.Limits{}.WithDefaults()
	limits.Keys = limits.Nodes
	if bad := tree.Guard([]byte(text), limits); bad != nil {
		return exceeded("%s", bad.Message)
	}
	return nil
}

func toTOML(v any) string {
	text, err := mustToTOML(v)
	if err != nil {
		return err.Error()
	}
	return text
}

func mustToTOML(v any) (string, error) {
	var data bytes.Buffer
	err := toml.NewEncoder(&data).Encode(v)
	return data.String(), err
}

// maxNesting limits the brackets of a TOML text: the decoder recurses for each.
const maxNesting = 100_000

func fromTOML(text string) (map[string]any, error) {
	if n := strings.Count(text, "[") + strings.Count(text, "{"); n > maxNesting {
		return nil, exceeded("the TOML text has %d brackets, more than the limit of %d", n, maxNesting)
	}
	m := map[string]any{}
	if err := toml.Unmarshal([]byte(text), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m, nil
}

func toJSON(v any) string {
	text, err := mustToJSON(v)
	if err != nil {
		return ""
	}
	return text
}

func mustToJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

func fromJSON(text string) map[string]any {
	m := map[string]any{}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

func fromJSONArray(text string) []any {
	a := []any{}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		a = []any{fmt.Sprint(err)}
	}
	return a
}
