package builtin

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// Types describes the kinds of a built-in API group for server-side apply.
func Types(group string) (managedfields.TypeConverter, error) {
	switch CodecOf(group) {
	case extensions():
		return extensionTypes().Group(group)
	case registration():
		return registrationTypes().Group(group)
	}
	return coreTypes().Group(group)
}

var (
	coreTypes         = sync.OnceValue(func() *apply.Types { return apply.NewTypes(core().Scheme) })
	extensionTypes    = sync.OnceValue(func() *apply.Types { return apply.NewTypes(extensions().Scheme) })
	registrationTypes = sync.OnceValue(func() *apply.Types { return apply.NewTypes(registration().Scheme) })
)
