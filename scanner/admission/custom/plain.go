package custom

import (
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Plain reports whether server-side apply of a new object with plain metadata certainly has the same result
// as creating it, like apply.Manifest.IsPlain: its values have the types of the schema, and sets and lists
// with keys have no two equal items.
func (d *Definition) Plain(content map[string]any, version string) bool {
	s := d.schemas[version]
	if s == nil || d.CRD.Spec.PreserveUnknownFields || !plainMetadata(content["metadata"]) {
		return false
	}
	for field, value := range content {
		switch field {
		case "apiVersion", "kind", "metadata":
			continue
		}
		if !plainField(field, value, s) {
			return false
		}
	}
	return true
}

// plainMetadata is Plain for metadata. Creation drops empty values there.
func plainMetadata(value any) bool {
	metadata, _ := value.(map[string]any)
	for _, value := range metadata {
		if isEmpty(value) {
			return false
		}
	}
	return true
}

// plainField is Plain for a field of a map.
func plainField(field string, value any, of *structuralschema.Structural) bool {
	if s, ok := of.Properties[field]; ok {
		return plain(value, &s)
	}
	switch more := of.AdditionalProperties; {
	case more != nil && more.Structural != nil:
		return plain(value, more.Structural)
	case more != nil && more.Bool, of.XPreserveUnknownFields:
		return true
	}
	return false
}

// plain is Plain for a value with a schema.
func plain(value any, s *structuralschema.Structural) bool {
	if s.XEmbeddedResource {
		return false
	}
	switch v := value.(type) {
	case map[string]any:
		for field, value := range v {
			if !plainField(field, value, s) {
				return false
			}
		}
		return s.Type == "object" || s.Type == "" && s.XPreserveUnknownFields
	case []any:
		return plainList(v, s)
	case string:
		return s.Type == "string" || s.XIntOrString
	case bool:
		return s.Type == "boolean"
	case int64:
		return s.Type == "integer" || s.Type == "number" || s.XIntOrString
	case float64:
		return s.Type == "number"
	}
	return false
}

// plainList is Plain for a list.
func plainList(list []any, s *structuralschema.Structural) bool {
	if s.Type != "array" || s.Items == nil {
		return false
	}
	for _, item := range list {
		if !plain(item, s.Items) {
			return false
		}
	}
	return s.XListType == nil || *s.XListType == "atomic" || distinct(list, s.XListMapKeys)
}

// distinct reports whether the items of a set, or of a list with keys, certainly differ. A server may set a
// default for a missing key.
func distinct(list []any, keys []string) bool {
	seen := map[string]bool{}
	for _, item := range list {
		id := []any{item}
		if len(keys) > 0 {
			id = nil
			of, _ := item.(map[string]any)
			for _, key := range keys {
				id = append(id, of[key])
			}
		}
		for _, part := range id {
			switch part.(type) {
			case string, bool, int64, float64:
			default:
				return false
			}
		}
		text := fmt.Sprintf("%#v", id)
		if seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}
