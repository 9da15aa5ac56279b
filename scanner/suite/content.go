package suite

import (
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// UnmarshalJSON decodes whole numbers as integers, as the API server does; encoding/json decodes
// every number in an any as a float.
func (r *Request) UnmarshalJSON(data []byte) error {
	type plain Request
	entry := struct {
		*plain
		Object    content `json:"object"`
		OldObject content `json:"oldObject"`
	}{plain: (*plain)(r)}
	if err := json.Unmarshal(data, &entry); err != nil {
		return err
	}
	r.Object, r.OldObject = entry.Object, entry.OldObject
	return nil
}

// content is an object as the API server decodes it.
type content map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	return utiljson.Unmarshal(data, (*map[string]any)(c))
}
