// Package data reads the data of ConfigMaps and Secrets that units take values from: variables of Flux's substitution,
// values of Helm releases, and static inputs of ResourceSets. Each value has the field where it is written, and a reason if it is not known.
package data

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"

	kjson "sigs.k8s.io/json"
)

// Datum is the value of a key of a ConfigMap or Secret.
type Datum struct {
	// Text is the value; empty if nothing of it is known.
	Text string
	// Unknown is the reason why the value is not known; empty if it is known.
	Unknown string
	// Holds are the unknown parts of Text, if the others are known.
	Holds []string
	// Written is the field that holds the value.
	Written render.FieldRef
}

// Of returns the data of a ConfigMap or Secret that a root renders, by key. If there may be other keys, whole is the
// reason; otherwise it is empty.
func Of(o *render.Object, root render.RootID, ref render.ObjectRef) (data map[string]Datum, whole string) {
	var content struct {
		Data       map[string]any `json:"data"`
		StringData map[string]any `json:"stringData"`
	}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, &content) // preadmit encoded it; the API server refuses other types
	data = map[string]Datum{}
	unknown := unknownKeys(o)
	add := func(field, key string, value any, encoded bool) {
		d := Datum{Written: render.FieldRef{Root: root, Index: o.Index, Path: origin.AppendKey(field, key)}}
		text, isText := value.(string)
		switch u := unknown[[2]string{field, key}]; {
		case u != nil:
			d.Unknown = fmt.Sprintf("of %s %s", ref, u.why)
			switch decoded, err := base64.StdEncoding.DecodeString(text); {
			case len(u.holds) == 0 || encoded && err != nil:
			case encoded:
				d.Text, _ = render.CutSOPS(string(decoded))
				d.Holds = u.holds
			default:
				d.Text, d.Holds = text, u.holds
			}
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
	if ref.Kind == "Secret" { // stringData overrides data in the server
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

// HoldsOfValues returns the unknown parts of a text with the values of a release. It returns nil if an unknown part may
// itself be more values, as in `{${X}}`: then the whole text is unknown.
func (d Datum) HoldsOfValues() []string {
	const mark = "PREADMITxUNKNOWN"
	var pairs []string
	for _, part := range d.Holds {
		pairs = append(pairs, part, mark)
	}
	var values any
	if yaml.Unmarshal([]byte(strings.NewReplacer(pairs...).Replace(d.Text)), &values) == nil && hasEntry(values, mark) {
		return nil
	}
	return d.Holds
}

// hasEntry reports whether a mapping has a key that contains a text, without a value.
func hasEntry(value any, text string) bool {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			if item == nil && strings.Contains(key, text) || hasEntry(item, text) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return hasEntry(item, text) })
	}
	return false
}

// unknownKey is the reason why a key of an object is not known.
type unknownKey struct {
	why string
	// holds are the unknown parts of the text; empty if the whole text is unknown.
	holds []string
}

// unknownKeys returns the unknown keys of an object, by field and key.
func unknownKeys(o *render.Object) map[[2]string]*unknownKey {
	keys := map[[2]string]*unknownKey{}
	for _, u := range o.Unknown {
		if len(u.Path) < 2 {
			continue
		}
		at := [2]string(u.Path[:2])
		key := &unknownKey{u.Reason, u.Holds}
		if before := keys[at]; before != nil {
			if key.holds = nil; len(before.holds) > 0 && len(u.Holds) > 0 {
				key.holds = slices.Concat(before.holds, u.Holds)
			}
		}
		keys[at] = key
	}
	return keys
}
