package expressions

import "reflect"

// Differ reports whether two values of the variable differ in what is read of them.
func (r Read) Differ(a, b any) bool { return differ(a, b, r.Path[1:], r) }

func differ(a, b any, path []string, read Read) bool {
	if len(path) == 0 {
		switch {
		case read.Tests: // both are there
			return false
		case read.Ranges:
			return rangesDiffer(a, b)
		}
		return !reflect.DeepEqual(a, b)
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		switch {
		case !ok:
			return true
		case path[0] == Each:
			if rangesDiffer(a, b) {
				return true
			}
			for key := range a {
				if differ(a[key], b[key], path[1:], read) {
					return true
				}
			}
			return false
		}
		inA, hasA := a[path[0]]
		inB, hasB := b[path[0]]
		if !hasA || !hasB {
			return hasA != hasB
		}
		return differ(inA, inB, path[1:], read)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return true
		}
		for i := range a { // also where one element is read
			if differ(a[i], b[i], path[1:], read) {
				return true
			}
		}
		return false
	}
	return !reflect.DeepEqual(a, b)
}

// rangesDiffer reports whether two values differ in how many elements they have, or which keys.
func rangesDiffer(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return true
		}
		for key := range a {
			if _, there := b[key]; !there {
				return true
			}
		}
		return false
	case []any:
		b, ok := b.([]any)
		return !ok || len(a) != len(b)
	}
	return !reflect.DeepEqual(a, b)
}
