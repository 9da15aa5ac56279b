package flux

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// Implied is the Kustomization that `flux bootstrap` or flux-operator makes for a
// directory of a source.
func Implied(dir string, source render.ObjectRef) json.RawMessage {
	object, _ := json.Marshal(map[string]any{ // strings and booleans
		"apiVersion": Group + "/v1", "kind": Kind.Kind,
		"metadata": map[string]any{"name": source.Name, "namespace": source.Namespace},
		"spec": map[string]any{
			"interval": "10m0s", "path": "./" + dir, "prune": true,
			"sourceRef": map[string]any{"kind": source.Kind, "name": source.Name},
		},
	})
	return object
}

// WithoutPostBuild is a Kustomization that substitutes nothing.
func WithoutPostBuild(object json.RawMessage) json.RawMessage {
	var o map[string]any
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	if decoder.Decode(&o) != nil {
		return object
	}
	if spec, ok := o["spec"].(map[string]any); ok {
		delete(spec, "postBuild")
	}
	data, err := json.Marshal(o)
	if err != nil {
		return object
	}
	return data
}

// Decides reports whether what a unit is turns on a field of its object. The value of a
// variable may be unknown, and labels, and when and how long the controller works on the unit.
func Decides(field []string) bool {
	switch {
	case len(field) == 3 && field[0] == "metadata":
		return field[1] != "labels" && field[1] != "annotations" || strings.HasPrefix(field[2], Group)
	case len(field) < 2 || field[0] != "spec":
		return len(field) == 0 || field[0] == "spec" || field[0] == "metadata"
	}
	switch field[1] {
	case "interval", "retryInterval", "timeout", "wait", "dependsOn", "healthChecks", "healthCheckExprs":
		return false
	case "postBuild":
		return len(field) < 4 || field[2] != "substitute"
	}
	return true
}
