package builtin

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generated "k8s.io/kubernetes/pkg/generated/openapi"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// Types returns the types of a built-in API group's kinds for server-side apply.
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

// Enumerated returns the values that a field of a built-in type may have, if it is an enumeration.
func Enumerated(model, field string) []any { return models()[model].Properties[field].Enum }

var models = sync.OnceValue(func() map[string]spec.Schema {
	all := map[string]spec.Schema{}
	for name, d := range generated.GetOpenAPIDefinitions(spec.MustCreateRef) {
		all[name] = d.Schema
	}
	return all
})
