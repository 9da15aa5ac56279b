package expressions

import (
	"reflect"
	"slices"
	"strings"
)

// Differ reports whether two values of the variable differ in the part that is read.
func (r Read) Differ(a, b any) bool { return differ(a, b, r.Path[1:], r) }

// Equal reports whether two reads are the same.
func (r Read) Equal(other Read) bool {
	return r.Ranges == other.Ranges && r.Tests == other.Tests && slices.Equal(r.Path, other.Path)
}

// Differences returns the paths at which two values of a variable differ, with Each for the items of lists:
// for two maps, or two lists of equal length, the paths of the fields and items that differ, otherwise the
// path of the value itself. A read only Differs if it Meets one of them: the difference is at the path of the
// read or at a beginning of it (the values are of different kinds, only one exists, or they are different
// scalars), or inside the value that is read.
func Differences(a, b any) []Path {
	var d differing
	d.compare(a, b)
	return d.all
}

// differing collects the differences of two values.
type differing struct {
	at  Path // the path of the values being compared
	all []Path
}

func (d *differing) compare(a, b any) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		for key := range x {
			if in, there := y[key]; there {
				d.below(key, x[key], in)
			} else {
				d.add(key)
			}
		}
		for key := range y {
			if _, there := x[key]; !there {
				d.add(key)
			}
		}
		return
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			d.below(Each, x[i], y[i])
		}
		return
	case string:
		if x == b {
			return
		}
	}
	if !reflect.DeepEqual(a, b) {
		d.add()
	}
}

// below compares values inside the values being compared.
func (d *differing) below(key string, a, b any) {
	d.at = append(d.at, key)
	d.compare(a, b)
	d.at = d.at[:len(d.at)-1]
}

// add records a difference.
func (d *differing) add(key ...string) { d.all = append(d.all, slices.Concat(d.at, key)) }

// Meets reports whether one of the differences is at, inside or around the read value.
func (r Read) Meets(differences []Path) bool {
	return slices.ContainsFunc(differences, func(d Path) bool {
		for i := range min(len(d), len(r.Path)-1) {
			if read := r.Path[i+1]; read != d[i] && d[i] != Each && !strings.HasPrefix(read, "[") {
				return false
			}
		}
		return true
	})
}

func differ(a, b any, path []string, read Read) bool {
	if len(path) == 0 {
		switch {
		case read.Tests: // both exist
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
		for i := range a { // also if only one element is read
			if differ(a[i], b[i], path[1:], read) {
				return true
			}
		}
		return false
	}
	return !reflect.DeepEqual(a, b)
}

// rangesDiffer reports whether two values differ in the number of elements, or in the keys.
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
