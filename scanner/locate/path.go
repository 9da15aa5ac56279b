package locate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/preadmit/preadmit/render/origin"
)

// maxFields is the maximum number of fields of a value, maxPaths that of a result.
const (
	maxFields = 64
	maxPaths  = 16
)

// path is a place in the object. All places in the Namespace's object have the same path: the
// object's metadata.namespace, which selects the Namespace.
type path struct {
	text      string
	namespace bool
	// absent: there is no value at the place.
	absent bool
}

// child returns the place of an entry of a map or an element of a list.
func (p *path) child(key ref.Val) *path {
	if p == nil || p.namespace {
		return p
	}
	switch k := key.(type) {
	case types.String:
		return &path{text: p.text + keyStep(p.text, string(k)), absent: p.absent}
	case types.Int:
		return &path{text: p.text + "[" + strconv.FormatInt(int64(k), 10) + "]", absent: p.absent}
	}
	return p
}

// keyStep returns a key in the API's notation: `.name`, or in brackets if the name is ambiguous.
func keyStep(parent, key string) string {
	switch {
	case key == "" || strings.Contains(key, "]") || strings.HasPrefix(key, `"`) || strings.HasPrefix(key, "'"):
		return origin.AppendKey("", key)
	case !isName(key):
		return "[" + key + "]"
	case parent == "":
		return key
	}
	return "." + key
}

func isName(key string) bool {
	for i, c := range key {
		digit := c >= '0' && c <= '9'
		if digit && i == 0 || !digit && !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' && i > 0 || c >= 0x80) {
			return false
		}
	}
	return key != ""
}

// missing returns the place, marked absent.
func (p *path) missing() *path {
	if p == nil || p.namespace {
		return p
	}
	return &path{text: p.text, absent: true}
}

// within reports whether p is the place of other or inside it.
func (p path) within(other path) bool {
	rest, ok := strings.CutPrefix(p.text, other.text)
	return ok && (rest == "" || other.text == "" || rest[0] == '.' || rest[0] == '[')
}

// weak reports whether a place decides which objects a policy applies to, rather than what it
// requires.
func (p path) weak() bool { return p.namespace || p.text == "kind" || p.text == "apiVersion" }

// fields are places, the most relevant first.
type fields []path

// at returns the list of one place; none for nil.
func at(p *path) fields {
	if p == nil {
		return nil
	}
	return fields{*p}
}

// union concatenates lists, without repeats.
func union(lists ...fields) fields {
	var all fields
	for _, list := range lists {
		if len(all) == 0 {
			all = list[:len(list):len(list)]
			continue
		}
		for _, p := range list {
			if len(all) < maxFields && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// ranked returns the paths of a result: weak ones only if there are no others, and none that
// contains a more relevant one.
func ranked(all fields) []string {
	strong := slices.DeleteFunc(slices.Clone(all), path.weak)
	if len(strong) == 0 {
		strong = all
	}
	var kept fields
	for _, p := range strong {
		holds := func(better path) bool { return better.within(p) }
		if p.text != "" && len(kept) < maxPaths && !slices.ContainsFunc(kept, holds) {
			kept = append(kept, p)
		}
	}
	var paths []string
	for _, p := range kept {
		paths = append(paths, p.text)
	}
	return paths
}

// known returns the list, never nil.
func (f fields) known() fields {
	if f == nil {
		return fields{}
	}
	return f
}
