package custom

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// Plain reports whether applying a new object on the server certainly comes to the same as creating it,
// like apply.Plain: its values have the types of the schema, and no list by key and no set has an item.
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

// plainMetadata is Plain for metadata. Creation drops what is empty there.
func plainMetadata(value any) bool {
	metadata, _ := value.(map[string]any)
	for _, value := range metadata {
		switch v := value.(type) {
		case map[string]any:
			if len(v) == 0 {
				return false
			}
		case []any:
			if len(v) == 0 {
				return false
			}
		}
	}
	return apply.Plain(map[string]any{"metadata": value})
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
	if s.Type != "array" || s.Items == nil || len(list) > 0 && s.XListType != nil && *s.XListType != "atomic" {
		return false
	}
	for _, item := range list {
		if !plain(item, s.Items) {
			return false
		}
	}
	return true
}
