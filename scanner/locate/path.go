package locate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/preadmit/preadmit/render/origin"
)

// maxFields bounds the fields a value remembers, maxPaths those of an answer.
const (
	maxFields = 64
	maxPaths  = 16
)

// path is a place in the object. All paths of the Namespace's object are one: the
// object's metadata.namespace, which says what Namespace it is.
type path struct {
	text      string
	namespace bool
	// absent: there is nothing at the place.
	absent bool
}

// child is the place of an entry of a map or an element of a list.
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

// keyStep writes a key as the API does: `.name`, in brackets where a name could be
// mistaken.
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

// missing is the place, at which there is nothing.
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

// weak places decide what a policy is about, not what it demands.
func (p path) weak() bool { return p.namespace || p.text == "kind" || p.text == "apiVersion" }

// fields are places, the most telling first.
type fields []path

// at is the list of one place, or of none.
func at(p *path) fields {
	if p == nil {
		return nil
	}
	return fields{*p}
}

// union puts lists one after the other, without repeats.
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

// ranked are the paths of an answer: weak ones only if there are no others, and
// none that holds a better one.
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

// known is the list itself, never nil.
func (f fields) known() fields {
	if f == nil {
		return fields{}
	}
	return f
}
