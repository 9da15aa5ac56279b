package change

import "github.com/preadmit/preadmit/scanner/admission"

// Equal reports whether two objects have the same content. Both may be nil.
func Equal(a, b *admission.Object) bool {
	return a == b || a != nil && b != nil && a.Equal(b)
}
