package helm

import (
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/locate"
	"github.com/preadmit/preadmit/render/tree"
)

// standIns are texts that take the place of values that are not known, one in each rendering:
// what differs then follows from these values. There is a number and nothing at all among them,
// since a chart may make a number of a value, or ask whether it is there.
var standIns = []string{"stand-in", "1", ""}

// leftOut leaves out references that are not known.
func leftOut() (string, bool) { return "", false }

// replaced gives them a text.
func replaced(text string) func() (string, bool) {
	return func() (string, bool) { return text, true }
}

// variables are what is left of variables that have no value.
var variables = regexp.MustCompile(`\$\{[^{}]*\}`)

// vary returns an object with a text in the place of what is not known of it. Of a text with
// variables in it, these are replaced.
func vary(object json.RawMessage, unknown []render.Unknown, text string) json.RawMessage {
	content := (&render.Object{JSON: object}).Content()
	for _, u := range unknown {
		set(content, u.Path, func(old any) any {
			if known, ok := old.(string); ok && variables.MatchString(known) {
				return variables.ReplaceAllLiteralString(known, text)
			}
			return text
		})
	}
	return tree.Encode(content)
}

// set replaces what a path leads to; a mapping or list is taken away instead.
func set(at any, path []string, with func(any) any) {
	if len(path) == 0 {
		return
	}
	switch v := at.(type) {
	case map[string]any:
		old, ok := v[path[0]]
		switch {
		case !ok:
		case len(path) > 1:
			set(old, path[1:], with)
		case locate.IsScalar(old):
			v[path[0]] = with(old)
		default:
			delete(v, path[0])
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		switch {
		case err != nil || i < 0 || i >= len(v):
		case len(path) > 1:
			set(v[i], path[1:], with)
		case locate.IsScalar(v[i]):
			v[i] = with(v[i])
		default:
			v[i] = nil
		}
	}
}
