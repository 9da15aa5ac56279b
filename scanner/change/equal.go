package change

import "github.com/preadmit/preadmit/scanner/admission"

// Equal reports whether two objects, or none, have the same content.
func Equal(a, b *admission.Object) bool {
	return a == b || a != nil && b != nil && a.Equal(b)
}
