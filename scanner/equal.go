package scanner

import "github.com/preadmit/preadmit/scanner/admission"

// equalObjects reports whether two objects have the same content.
func equalObjects(a, b *admission.Object) bool {
	return a == b || a != nil && b != nil && equalMaps(a.Content, b.Content)
}

// equalValues compares values as they are decoded from JSON, which have no cycles
// and few types, so it is much faster than reflection.
func equalValues(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a {
		other, ok := b[key]
		if !ok || !equalValues(value, other) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i, value := range a {
		if !equalValues(value, b[i]) {
			return false
		}
	}
	return true
}
