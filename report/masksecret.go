package report

import (
	"reflect"
	"slices"
)

// Mask replaces a value that is not shown.
const Mask = "***"

// lastApplied is the annotation in which kubectl stores the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// MaskSecret masks everything that may be secret in an object of kind Secret, as decoded
// from JSON: each value of data and stringData, any field that a Secret does not have, and
// the annotation in which kubectl stores the whole object. It does not change objects of
// other kinds.
func MaskSecret(content map[string]any) {
	for _, s := range secretsOf(content) {
		s.in[s.key] = Mask
	}
}

// MaskSecretChange masks two versions of an object, either of which may be nil. The masks of
// values that differ name their side, so that the difference stays visible.
func MaskSecretChange(before, after map[string]any) {
	old, young := secretsOf(before), secretsOf(after)
	was := map[string]any{}
	for _, s := range old {
		was[s.path] = s.in[s.key]
	}
	differ := map[string]bool{}
	for _, s := range young {
		value, ok := was[s.path]
		differ[s.path] = ok && !reflect.DeepEqual(value, s.in[s.key])
	}
	for _, side := range []struct {
		name    string
		secrets []secret
	}{{"before", old}, {"after", young}} {
		for _, s := range side.secrets {
			s.in[s.key] = Mask
			if differ[s.path] {
				s.in[s.key] = Mask + " (" + side.name + ")"
			}
		}
	}
}

// secret is a value to mask: in[key].
type secret struct {
	in   map[string]any
	key  string
	path string
}

// secretsOf returns the values to mask in an object.
func secretsOf(content map[string]any) []secret {
	if content["kind"] != "Secret" {
		return nil
	}
	var out []secret
	for field, value := range content {
		values, isMap := value.(map[string]any)
		switch {
		case value == nil || slices.Contains([]string{"apiVersion", "kind", "metadata", "type", "immutable"}, field):
		case isMap && (field == "data" || field == "stringData"):
			for key := range values {
				out = append(out, secret{values, key, field + "." + key})
			}
		default:
			out = append(out, secret{content, field, field})
		}
	}
	metadata, _ := content["metadata"].(map[string]any)
	if annotations, _ := metadata["annotations"].(map[string]any); annotations[lastApplied] != nil {
		out = append(out, secret{annotations, lastApplied, lastApplied})
	}
	return out
}
