package deploy

import (
	"encoding/base64"
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"

	kjson "sigs.k8s.io/json"
)

// datum is the value of a key of a ConfigMap or Secret.
type datum struct {
	text string
	// unknown says why the value is not known; it is empty for one that is.
	unknown string
	written render.FieldRef
}

// dataOf returns the data of a ConfigMap or Secret by their keys. whole says why there may be
// others; it is empty when these are all.
func dataOf(o held) (data map[string]datum, whole string) {
	var content struct {
		Data       map[string]any `json:"data"`
		StringData map[string]any `json:"stringData"`
	}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(o.object.JSON, &content) // it was encoded here; the API server refuses other types
	data = map[string]datum{}
	unknown := unknownKeys(o.object)
	add := func(field, key string, value any, encoded bool) {
		d := datum{written: render.FieldRef{Root: o.root, Index: o.object.Index, Path: origin.AppendKey(field, key)}}
		text, isText := value.(string)
		switch why := unknown(field, key); {
		case why != "":
			d.unknown = fmt.Sprintf("of %s %s", o.ref(), why)
		case !isText:
			d.unknown = fmt.Sprintf("%s of %s is no text", key, o.ref())
		case encoded:
			decoded, err := base64.StdEncoding.DecodeString(text)
			if d.text = string(decoded); err != nil {
				d.unknown = fmt.Sprintf("%s of %s is not base64", key, o.ref())
			}
		default:
			d.text = text
		}
		data[key] = d
	}
	for key, value := range content.Data {
		add("data", key, value, o.Kind == "Secret")
	}
	if o.Kind == "Secret" { // which the server writes over data
		for key, value := range content.StringData {
			add("stringData", key, value, false)
		}
	}
	for _, u := range o.object.Unknown {
		if len(u.Path) == 0 || len(u.Path) == 1 && (u.Path[0] == "data" || u.Path[0] == "stringData") {
			whole = fmt.Sprintf("of %s %s", o.ref(), u.Reason)
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
