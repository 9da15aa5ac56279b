package render

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
)

// Unknown is a field of an object whose value is not known offline: it is encrypted, or
// what deploys the object puts something in it that is not in the repository. The
// object's JSON holds what is written in its place.
type Unknown struct {
	// Path leads to the field: the keys of mappings and the indexes of lists, in decimal.
	// All that is below the field is unknown as well. A string is unknown as a whole when
	// a part of it is, and a mapping when one of its keys is. An empty path is the object.
	Path []string `json:"path"`
	// Reason says in words for the author of a change why the value is not known, as a
	// clause about the field: "it is encrypted by SOPS".
	Reason string `json:"reason"`
	// Holds are the parts of a text that are not known, as they are written in it: variables,
	// as `${DOMAIN}`, and in what the data of a Secret encodes, values that SOPS encrypted. The rest of
	// the text is known. It is empty where nothing of the value is.
	Holds []string `json:"holds,omitempty"`
}

// variable is what tools that substitute variables replace. `$${X}` has them
// write `${X}`.
var variable = regexp.MustCompile(`\$?\$\{#?([_A-Za-z][_A-Za-z0-9]*)[^{}]*\}`)

// Variables returns the fields of an object that hold a variable, as in `${DOMAIN}`, for
// an object of which is not known whether something substitutes them.
func (o *Object) Variables() []Unknown {
	return FieldsWith(o.Content(), func(text string) string {
		for _, found := range variable.FindAllString(text, -1) {
			if found[1] != '$' {
				return fmt.Sprintf("it holds %s, and nothing in the repository says what substitutes it", found)
			}
		}
		return ""
	})
}

// UnknownSpec says why a part of the spec of an object is not known; it is empty when all is.
func (o *Object) UnknownSpec() string {
	for _, u := range o.Unknown {
		if len(u.Path) == 0 || u.Path[0] == "spec" {
			return u.Reason
		}
	}
	return ""
}

// FieldsWith returns the fields below value whose text has a reason to be unknown, and the
// mappings that have such a key, in the order of their paths.
func FieldsWith(value any, why func(text string) string) []Unknown {
	var found []Unknown
	var walk func(value any, path []string)
	walk = func(value any, path []string) {
		switch v := value.(type) {
		case string:
			if reason := why(v); reason != "" {
				found = append(found, Unknown{Path: slices.Clone(path), Reason: reason})
			}
		case []any:
			for i, item := range v {
				walk(item, append(path, strconv.Itoa(i)))
			}
		case map[string]any:
			keys := slices.Sorted(maps.Keys(v))
			for _, key := range keys {
				if reason := why(key); reason != "" {
					found = append(found, Unknown{Path: slices.Clone(path), Reason: reason})
					return
				}
			}
			for _, key := range keys {
				walk(v[key], append(path, key))
			}
		}
	}
	walk(value, nil)
	return found
}

// ValueAt returns the value that a path leads to; nil if there is none. A step into a list is its index.
func ValueAt(value any, path []string) any {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// TextAt returns the text that a path leads to; empty if there is none.
func TextAt(value any, path []string) string {
	text, _ := ValueAt(value, path).(string)
	return text
}

// Differences returns the fields in which two values differ as unknown ones. One that only the second
// has makes the mapping unknown that it is in.
func Differences(a, b any, reason string) []Unknown {
	var found []Unknown
	var walk func(a, b any, path []string)
	walk = func(a, b any, path []string) {
		ma, isMap := a.(map[string]any)
		mb, bothMaps := b.(map[string]any)
		la, isList := a.([]any)
		lb, bothLists := b.([]any)
		switch {
		case isMap && bothMaps && sameKeys(ma, mb):
			for _, key := range slices.Sorted(maps.Keys(ma)) {
				walk(ma[key], mb[key], append(path, key))
			}
		case isList && bothLists && len(la) == len(lb):
			for i := range la {
				walk(la[i], lb[i], append(path, strconv.Itoa(i)))
			}
		case !reflect.DeepEqual(a, b):
			found = append(found, Unknown{Path: slices.Clone(path), Reason: reason})
		}
	}
	walk(a, b, []string{})
	return found
}

func sameKeys(a, b map[string]any) bool {
	for key := range a {
		if _, ok := b[key]; !ok {
			return false
		}
	}
	return len(a) == len(b)
}
