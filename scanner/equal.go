package scanner

import "github.com/preadmit/preadmit/scanner/admission"

// equalObjects reports whether two objects, or none, have the same content.
func equalObjects(a, b *admission.Object) bool {
	return a == b || a != nil && b != nil && a.Equal(b)
}
