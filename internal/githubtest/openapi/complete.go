package openapi

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
)

// Moment is the time in all bodies except tokens and deliveries: nothing depends on it.
const Moment = "2026-01-02T03:04:05Z"

// maxDepth limits the depth of nested objects that are filled in.
const maxDepth = 12

// Complete returns the body of a response with the fields that the description requires and the
// handler did not set: URLs of other resources, counts, flags.
func (d *Description) Complete(route *routers.Route, status int, body any) (any, error) {
	response := route.Operation.Responses.Status(status)
	if body == nil || response == nil {
		return body, nil
	}
	body, err := plain(body)
	if err != nil || response.Value.Content.Get("application/json") == nil {
		return body, err
	}
	return fill(response.Value.Content.Get("application/json").Schema.Value, body, 0), nil
}

// CompleteAs completes a body like Complete, by a named schema of the description, for webhooks.
func (d *Description) CompleteAs(schema string, body map[string]any) map[string]any {
	simple, err := plain(body)
	if err != nil {
		panic(fmt.Sprintf("%s cannot be JSON: %v", schema, err)) // the body is one of this module
	}
	ref := d.doc.Components.Schemas[schema]
	if ref == nil {
		panic("the description has no " + schema)
	}
	return fill(ref.Value, simple, 0).(map[string]any)
}

// plain returns a value in the form in which encoding/json decodes it.
func plain(v any) (out any, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return out, json.Unmarshal(text, &out)
}

// fill adds the fields to a value that a schema requires.
func fill(schema *openapi3.Schema, v any, depth int) any {
	if depth > maxDepth {
		return v
	}
	for _, part := range schema.AllOf {
		v = fill(part.Value, v, depth+1)
	}
	if choices := append(append(openapi3.SchemaRefs{}, schema.OneOf...), schema.AnyOf...); len(choices) > 0 {
		v = fillOne(choices, v, depth)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range schema.Required {
			if _, has := v[name]; !has && schema.Properties[name] != nil {
				v[name] = zero(schema.Properties[name].Value, depth+1)
			}
		}
		for name, property := range schema.Properties {
			if _, has := v[name]; has {
				v[name] = fill(property.Value, v[name], depth+1)
			}
		}
	case []any:
		for i := range v {
			if schema.Items != nil {
				v[i] = fill(schema.Items.Value, v[i], depth+1)
			}
		}
	}
	return v
}

// fillOne fills the value in by the first schema that it then satisfies.
func fillOne(choices openapi3.SchemaRefs, v any, depth int) any {
	for _, choice := range choices {
		try := v
		if m, ok := v.(map[string]any); ok {
			try = maps.Clone(m)
		}
		try = fill(choice.Value, try, depth+1)
		if choice.Value.VisitJSON(try) == nil {
			return try
		}
	}
	return v
}

// zero returns the simplest value of a schema.
func zero(schema *openapi3.Schema, depth int) any {
	switch {
	case schema.Nullable || depth > maxDepth:
		return nil
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	case schema.Type.Is("string"):
		return map[string]string{"uri": "https://api.github.com/x", "date-time": Moment, "email": "a@example.com"}[schema.Format]
	case schema.Type.Is("integer"), schema.Type.Is("number"):
		if schema.Min != nil {
			return *schema.Min
		}
		return 0.0
	case schema.Type.Is("boolean"):
		return false
	case schema.Type.Is("array"):
		return []any{}
	case len(schema.OneOf) > 0:
		return zero(schema.OneOf[0].Value, depth+1)
	case len(schema.AnyOf) > 0:
		return zero(schema.AnyOf[0].Value, depth+1)
	case len(schema.AllOf) == 1 && len(schema.Properties) == 0:
		return zero(schema.AllOf[0].Value, depth+1)
	}
	return fill(schema, map[string]any{}, depth)
}
