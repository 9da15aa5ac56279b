// Package data reads the data of ConfigMaps and Secrets that units take values from: variables of Flux's
// substitution, values of Helm releases. What is not known of them has its reason, and each value the field
// that it is written in.
package data

import (
	"encoding/base64"
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"

	kjson "sigs.k8s.io/json"
)

// Datum is the value of a key of a ConfigMap or Secret.
type Datum struct {
	Text string
	// Unknown says why the value is not known; it is empty for one that is.
	Unknown string
	// Written is the field.
	Written render.FieldRef
}

// Of returns the data of a ConfigMap or Secret that a root renders, by their keys. whole says why there may be
// others; it is empty when these are all.
func Of(o *render.Object, root render.RootID, ref render.ObjectRef) (data map[string]Datum, whole string) {
	var content struct {
		Data       map[string]any `json:"data"`
		StringData map[string]any `json:"stringData"`
	}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, &content) // it was encoded here; the API server refuses other types
	data = map[string]Datum{}
	unknown := unknownKeys(o)
	add := func(field, key string, value any, encoded bool) {
		d := Datum{Written: render.FieldRef{Root: root, Index: o.Index, Path: origin.AppendKey(field, key)}}
		text, isText := value.(string)
		switch why := unknown(field, key); {
		case why != "":
			d.Unknown = fmt.Sprintf("of %s %s", ref, why)
		case !isText:
			d.Unknown = fmt.Sprintf("%s of %s is no text", key, ref)
		case encoded:
			decoded, err := base64.StdEncoding.DecodeString(text)
			if d.Text = string(decoded); err != nil {
				d.Unknown = fmt.Sprintf("%s of %s is not base64", key, ref)
			}
		default:
			d.Text = text
		}
		data[key] = d
	}
	for key, value := range content.Data {
		add("data", key, value, ref.Kind == "Secret")
	}
	if ref.Kind == "Secret" { // which the server writes over data
		for key, value := range content.StringData {
			add("stringData", key, value, false)
		}
	}
	for _, u := range o.Unknown {
		if len(u.Path) == 0 || len(u.Path) == 1 && (u.Path[0] == "data" || u.Path[0] == "stringData") {
			whole = fmt.Sprintf("of %s %s", ref, u.Reason)
		}
	}
	return data, whole
}

// unknownKeys tells why a key of an object is not known.
func unknownKeys(o *render.Object) func(field, key string) string {
	reasons := map[[2]string]string{}
	for _, u := range o.Unknown {
		if len(u.Path) >= 2 {
			reasons[[2]string{u.Path[0], u.Path[1]}] = u.Reason
		}
	}
	return func(field, key string) string { return reasons[[2]string{field, key}] }
}
