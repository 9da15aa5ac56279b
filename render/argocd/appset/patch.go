package appset

import (
	"maps"
	"slices"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// patch applies the templatePatch, and returns its rendered text as well. It does not change the project.
func (g *generator) patch(app map[string]any, p params) (patched map[string]any, text string, err error) {
	text, err = g.replace(*g.set.Spec.TemplatePatch, p.values, g.set.Spec.GoTemplateOptions)
	if err != nil {
		return nil, "", err
	}
	var patch map[string]any
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, &patch)
	}
	if err != nil {
		return nil, "", err
	}
	patched = patchedBy(app, patch)
	if metadata, _ := patched["metadata"].(map[string]any); metadata != nil {
		metadata["finalizers"] = union(app, patch)
	}
	before, _ := app["spec"].(map[string]any)
	if spec, _ := patched["spec"].(map[string]any); spec != nil {
		if delete(spec, "project"); before["project"] != nil {
			spec["project"] = before["project"]
		}
	}
	return patched, text, nil
}

// patchedBy returns a value after a strategic merge patch: lists in Applications are replaced.
func patchedBy(value, patch map[string]any) map[string]any {
	if patch["$patch"] == "replace" {
		value = nil
	}
	out := maps.Clone(value)
	if out == nil {
		out = map[string]any{}
	}
	for key, item := range patch {
		over, isMap := item.(map[string]any)
		under, _ := out[key].(map[string]any)
		switch {
		case key == "$patch" || key == "$retainKeys":
		case item == nil || isMap && over["$patch"] == "delete":
			delete(out, key)
		case isMap:
			out[key] = patchedBy(under, over)
		default:
			out[key] = item
		}
	}
	if keep, ok := patch["$retainKeys"].([]any); ok {
		maps.DeleteFunc(out, func(key string, _ any) bool { return !slices.Contains(keep, any(key)) })
	}
	return out
}

// union returns the merged finalizers of both.
func union(app, patch map[string]any) []any {
	var all []any
	for _, o := range []map[string]any{app, patch} {
		metadata, _ := o["metadata"].(map[string]any)
		finalizers, _ := metadata["finalizers"].([]any)
		for _, f := range finalizers {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}
