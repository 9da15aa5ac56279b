package mutation

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/preadmit/preadmit/render/origin"
)

// Back returns the path that a field of the mutated object had before all mutations, and the last
// mutation that wrote it, nil if none did. For an element of a list that a mutation added, the path
// is that of the list.
func Back(writes []Write, field string) (before string, by *Write) {
	for i := len(writes) - 1; i >= 0; i-- {
		back, wrote := writes[i].back(field)
		if field = back; wrote && by == nil {
			by = &writes[i]
		}
	}
	return field, by
}

// back returns the path of a field before the mutation, and whether the mutation changed it.
func (w *Write) back(field string) (before string, wrote bool) {
	steps := origin.ParsePath(field)
	was, is, path := any(w.Before), any(w.After), ""
	for len(steps) > 0 {
		next, used := origin.ValueAt(is, steps)
		if used == 0 {
			_, existed := follow(was, steps)
			return join(path, steps), existed
		}
		list, isList := is.([]any)
		if !isList {
			prior, usedBefore := origin.ValueAt(was, steps)
			if usedBefore != used {
				return join(path, steps), true
			}
			path, steps = join(path, steps[:used]), steps[used:]
			was, is = prior, next
			continue
		}
		old, _ := was.([]any)
		at := counterpart(old, list, steps[0].Index)
		if at < 0 {
			return path, true
		}
		path, steps = fmt.Sprintf("%s[%d]", path, at), steps[1:]
		was, is = old[at], next
	}
	return path, !reflect.DeepEqual(was, is)
}

// follow returns the value at a path.
func follow(value any, steps []origin.PathStep) (any, bool) {
	for len(steps) > 0 {
		next, used := origin.ValueAt(value, steps)
		if used == 0 {
			return nil, false
		}
		value, steps = next, steps[used:]
	}
	return value, true
}

// join appends steps to a path.
func join(path string, steps []origin.PathStep) string {
	for _, s := range steps {
		if s.Indexed {
			path += "[" + s.Key + "]"
		} else {
			path = origin.AppendKey(path, s.Key)
		}
	}
	return path
}

// counterpart returns the index in a list of the element that is at an index of the mutated list; -1
// if the mutation added it. Elements are matched by their names, others by equality, or by position
// if both lists have the same length.
func counterpart(before, after []any, i int) int {
	if name, ok := nameOf(after[i]); ok {
		return slices.IndexFunc(before, func(e any) bool { other, ok := nameOf(e); return ok && other == name })
	}
	same := func(e any) bool { return reflect.DeepEqual(e, after[i]) }
	if i < len(before) && same(before[i]) {
		return i
	}
	if j := slices.IndexFunc(before, same); j >= 0 {
		return j
	}
	if len(before) == len(after) {
		return i
	}
	return -1
}

func nameOf(element any) (name string, ok bool) {
	m, _ := element.(map[string]any)
	name, ok = m["name"].(string)
	return name, ok
}
