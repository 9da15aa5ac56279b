package render

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Unknown is a field of an object whose value is not known offline: it is encrypted, or the deployer replaces it with
// something that is not in the repository. The object's JSON holds the written value.
type Unknown struct {
	// Path is the path of the field: keys of mappings and indexes of lists, in decimal. Everything below the field is
	// unknown as well. A string is unknown if a part of it is, and a mapping if one of its keys is. An empty path is
	// the whole object.
	Path []string `json:"path"`
	// Reason is the reason why the value is not known, for the author of a change, as a clause about the field: "it is
	// encrypted by SOPS".
	Reason string `json:"reason"`
	// Holds are the unknown parts of a text, as they are written in it: variables such as `${DOMAIN}`, and in the
	// decoded data of a Secret, values that SOPS encrypted. The rest of the text is known. It is empty if the whole
	// value is unknown.
	Holds []string `json:"holds,omitempty"`
}

// Field returns the path with dots, for messages.
func (u Unknown) Field() string { return strings.Join(u.Path, ".") }

// variable matches what tools that substitute variables replace. They replace `$${X}` by `${X}`.
var variable = regexp.MustCompile(`\$?\$\{#?([_A-Za-z][_A-Za-z0-9]*)[^{}]*\}`)

// Variables returns the fields of an object with a variable, such as `${DOMAIN}`, for an object for which it is not
// known whether something substitutes variables.
func (o *Object) Variables() []Unknown {
	return FieldsWith(o.Content(), func(text string) string {
		for _, found := range variable.FindAllString(text, -1) {
			if found[1] != '$' {
				return fmt.Sprintf("it contains %s, and the repository does not define its value", found)
			}
		}
		return ""
	})
}

// UnknownSpec returns the reason why a part of the spec of an object is not known; empty if all is known.
func (o *Object) UnknownSpec() string {
	for _, u := range o.Unknown {
		if len(u.Path) == 0 || u.Path[0] == "spec" {
			return u.Reason
		}
	}
	return ""
}

// FieldsWith returns the fields below value for whose text why returns a reason to be unknown, and the mappings with
// such a key, in the order of their paths.
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

// ValueAt returns the value at a path; nil if there is none. A step into a list is its index.
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

// TextAt returns the text at a path; empty if there is none.
func TextAt(value any, path []string) string {
	text, _ := ValueAt(value, path).(string)
	return text
}

// Differences returns the fields in which two values differ, as unknown fields. A key that only one mapping has makes
// the whole mapping unknown.
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
